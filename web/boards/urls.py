"""Maps the URLs of the boards (rankings of libraries) and of their exports to views."""

from django.urls import path

from web.boards import configurations, entries, staged, views

app_name = "boards"

urlpatterns = [
    path("", views.every_board, name="all"),
    path("configurations/<slug:family>/", configurations.page, name="configurations"),
    path("configurations/<slug:family>.csv", configurations.export_csv, name="configurations_csv"),
    path(
        "configurations/<slug:family>.json", configurations.export_json, name="configurations_json"
    ),
    path("users/<str:name>/", entries.user, name="user"),
    path("structures/<str:name>/", entries.structure, name="structure"),
    path("<slug:slug>/", views.board, name="board"),
    path("<slug:slug>/history/", views.history, name="history"),
    path("<slug:slug>/new-version/", staged.page, name="staged"),
    path("<slug:slug>/new-version/repeat/", staged.repeat, name="repeat"),
    path("<slug:slug>/new-version/live/", staged.make_live, name="make_live"),
    path("<slug:slug>.csv", views.export_csv, name="csv"),
    path("<slug:slug>.json", views.export_json, name="json"),
]
