"""Defines the type `Viewer`: a user who is logged in, or an anonymous visitor."""

from __future__ import annotations

from typing import TypeAlias

from django.contrib.auth.models import AnonymousUser, User

Viewer: TypeAlias = User | AnonymousUser
