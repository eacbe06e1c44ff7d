-- Of which domain a run's events are, and what was forgotten: an id that is kept without a type is one of its domain's.
alter table run_streams add column domain text;
alter table forgotten add column domain text;
create index forgotten_at on forgotten (forgotten_at);
drop function if exists without_forgotten(jsonb);
