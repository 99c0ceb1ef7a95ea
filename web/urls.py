"""Maps the URLs of the site to views. For some prefixes, it includes the file urls.py of a folder or package."""

from django.contrib import admin
from django.urls import include, path

from web.pages import documentation, downloads
from web.pages import views as pages

urlpatterns = [
    path("", pages.home, name="home"),
    path("about/", pages.about, name="about"),
    path("news/", pages.announcements, name="announcements"),
    path("status/", pages.status, name="status"),
    path("status/state/", pages.status_state, name="status-state"),
    path("machines/<int:pk>/", pages.machine, name="machine"),
    path("machines/<int:pk>/last-seen/", pages.machine_seen, name="machine-seen"),
    path("account/", pages.account, name="account"),
    path("account/", include("allauth.urls")),
    path("files/<str:name>", downloads.download, name="download"),
    path("docs/", documentation.documentation, {"path": ""}, name="docs"),
    path("docs/<path:path>", documentation.documentation, name="docs-page"),
    path("favicon.ico", pages.favicon, name="favicon"),
    path("boards/", include("web.boards.urls")),
    path("contests/", include("web.contests.urls")),
    path("", include("web.compare.urls")),
    path("", include("web.submissions.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "web.pages.errors.bad_request"
handler403 = "web.pages.errors.forbidden"
handler404 = "web.pages.errors.not_found"
handler429 = "web.pages.errors.too_many_requests"  # called by allauth
handler500 = "web.pages.errors.server_error"
