-- Other words for what companies are filed under, as the owner of the data says them, each with the value that it stands for.
create table company_synonyms (
  id text primary key,
  said text not null,
  field text not null check (field in ('sector', 'category', 'business_model', 'niche')),
  value text not null
);

-- A run is there while it lasts, so that one that is killed leaves a row; and it says how often a model decided what to do, how many
-- look-ups it took, and which chat it is a turn of.
alter table search_runs
  drop constraint search_runs_status_check,
  add constraint search_runs_status_check check (status in ('running', 'completed', 'failed', 'abandoned')),
  add column iteration_count int not null default 0,
  add column tool_call_count int not null default 0,
  add column session_id text;
create index search_runs_session on search_runs (session_id, started_at) where session_id is not null;

-- Why a step failed, or was served by less than was asked for: the kind of error, without what was asked.
alter table search_run_steps add column reason text;
