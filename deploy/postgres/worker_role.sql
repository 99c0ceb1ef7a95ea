-- Creates the database role of the bench worker, the process that judges and times submitted libraries. A run is the
-- request to judge and time one library on one benchmark. The role may only claim, execute and record runs.
--
-- The bench worker's machine executes code that strangers have written. Therefore the role has no right to read
-- accounts, to create runs, or to change the submission, the benchmark or the seeds of a run.
--
-- After every migration, apply this file as the owner of the tables:
--   psql "$DATABASE_URL" -f deploy/postgres/worker_role.sql
-- After you have applied it for the first time, set a password:
--   ALTER ROLE keydrome_worker PASSWORD '...';

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'keydrome_worker') THEN
    CREATE ROLE keydrome_worker LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT;
  END IF;
END
$$;

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM keydrome_worker;
GRANT USAGE ON SCHEMA public TO keydrome_worker;

GRANT SELECT ON django_migrations TO keydrome_worker;
GRANT SELECT ON leaderboard_submission TO keydrome_worker;
GRANT SELECT ON leaderboard_run TO keydrome_worker;
GRANT SELECT ON contests_hiddeninstance TO keydrome_worker;
GRANT UPDATE (
  state, machine_id, slot, attempt, not_before, lease_until, heartbeat_at, progress, progress_note, live,
  verdict, reason, jail_level, score, score_low, score_high, total_ms, deadlocks,
  transactions_failed, transactions_completed, transactions_planned, provisional, decisive_findings, why_excluded, eligible, ranked_on,
  why_not,
  started_at, finished_at
) ON leaderboard_run TO keydrome_worker;
GRANT SELECT, INSERT, UPDATE ON leaderboard_rundetail TO keydrome_worker;
GRANT SELECT, INSERT, UPDATE ON leaderboard_machine TO keydrome_worker;
GRANT SELECT, INSERT, UPDATE ON leaderboard_controlseries TO keydrome_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard_boardentry TO keydrome_worker;
