"""Maps the URLs of the comparison of runs, as a page, as CSV and as JSON, to views."""

from django.urls import path

from web.compare import views

app_name = "compare"

urlpatterns = [
    path("compare/", views.page, name="page"),
    path("compare/sessions/", views.queue_sessions, name="sessions"),
    path("compare.csv", views.export_csv, name="csv"),
    path("compare.json", views.export_json, name="json"),
]
