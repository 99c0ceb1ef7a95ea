"""Maps the URLs of uploads, submissions and runs to views."""

from django.urls import path

from web.submissions import run_views, views

app_name = "submissions"

urlpatterns = [
    path("submit/", views.upload, name="upload"),
    path("submissions/", views.listing, name="list"),
    path("submissions/table/", views.table, name="table"),
    path("submissions/<int:pk>/", views.detail, name="detail"),
    path("submissions/<int:pk>/delete/", views.delete, name="delete"),
    path("submissions/<int:pk>/library/", views.library, name="library"),
    path("runs/<int:pk>/", run_views.run, name="run"),
    path("runs/<int:pk>.json", run_views.export, name="json"),
    path("runs/<int:pk>/bundle.zip", run_views.bundle, name="bundle"),
    path("bundle-key.txt", run_views.bundle_key, name="bundle-key"),
    path("runs/<int:pk>/state/", run_views.state, name="state"),
    path("runs/<int:pk>/cancel/", run_views.cancel, name="cancel"),
    path("runs/<int:pk>/rerun/", run_views.rerun, name="rerun"),
    path("runs/<int:pk>/audit/", run_views.audit, name="audit"),
    path("runs/<int:pk>/log/", run_views.log, name="log"),
    path("runs/<int:pk>/<str:name>.svg", run_views.plot, name="plot"),
]
