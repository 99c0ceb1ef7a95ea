"""Maps the URLs of contests to views: pages for everyone, for teams, and for the officials of a contest."""

from django.urls import path

from web.contests import hidden_views, mail_views, organiser_views, source_views, team_views, views

app_name = "contests"

urlpatterns = [
    path("", views.every_contest, name="all"),
    path("new", organiser_views.new, name="new"),
    path("<slug:slug>/", views.front, name="front"),
    path("<slug:slug>/news.atom", views.feed, name="feed"),
    path("<slug:slug>/result.json", views.result, name="result"),
    path("<slug:slug>/mail/", mail_views.subscribe, name="subscribe"),
    path("<slug:slug>/mail/<str:token>/", mail_views.stop, name="stop_mail"),
    path("<slug:slug>/boards/<slug:board_slug>/", views.board, name="board"),
    path("<slug:slug>/team/", team_views.team, name="team"),
    path("<slug:slug>/team/invite/", team_views.invite, name="invite"),
    path("<slug:slug>/team/link/", team_views.new_link, name="link"),
    path("<slug:slug>/team/leave/", team_views.leave, name="leave"),
    path("<slug:slug>/team/invitations/<int:pk>/", team_views.answer, name="answer"),
    path("<slug:slug>/join/<str:token>/", team_views.join, name="join"),
    path("<slug:slug>/submit/", team_views.submit, name="submit"),
    path("<slug:slug>/enter/", team_views.enter, name="enter"),
    path("<slug:slug>/entries/<int:pk>/source/", source_views.hand_in, name="source"),
    path("<slug:slug>/entries/<int:pk>/source/file", source_views.download, name="source_file"),
    path("<slug:slug>/edit/", organiser_views.edit, name="edit"),
    path("<slug:slug>/organise/", organiser_views.overview, name="overview"),
    path("<slug:slug>/organise/teams/", organiser_views.teams, name="teams"),
    path("<slug:slug>/organise/entries/<int:pk>/", organiser_views.entry, name="entry"),
    path("<slug:slug>/organise/entries/<int:pk>/judge/", organiser_views.judge, name="judge"),
    path("<slug:slug>/organise/rerun/", organiser_views.rerun, name="rerun"),
    path("<slug:slug>/organise/sign-up/", organiser_views.sign_up, name="sign_up"),
    path("<slug:slug>/organise/announce/", organiser_views.announce, name="announce"),
    path("<slug:slug>/organise/roles/", organiser_views.roles, name="roles"),
    path("<slug:slug>/organise/hidden/", hidden_views.every, name="hidden"),
    path("<slug:slug>/organise/hidden/<int:pk>/", hidden_views.change, name="hidden_change"),
    path("<slug:slug>/organise/hidden/<int:pk>/remove/", hidden_views.remove, name="hidden_remove"),
    path("<slug:slug>/organise/log/", organiser_views.audit_log, name="log"),
]
