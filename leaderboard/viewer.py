"""Viewer: the type of a visitor of a page, for annotations. The visitor may be anonymous."""

from __future__ import annotations

from typing import TypeAlias

from django.contrib.auth.models import AnonymousUser, User

Viewer: TypeAlias = User | AnonymousUser
