-- What runs have said, for whoever lost the connection and reads on. Lost with a crash of the server, as the runs are.
create unlogged table run_streams (
  run_id uuid primary key,
  caller text not null,
  started_at timestamptz not null default now(),
  written_at timestamptz not null default now(),
  read_at timestamptz,  -- when somebody last read on
  cancelled_at timestamptz,
  is_over boolean not null default false
);
create index run_streams_started_at on run_streams (started_at);

create unlogged table run_events (
  run_id uuid not null references run_streams on delete cascade,
  number int not null,
  event text not null,  -- JSON as it was sent
  primary key (run_id, number)
);

-- What its asker thought of a run.
alter table search_runs
  add column helpful boolean,
  add column feedback_reason text,
  add column feedback_at timestamptz;
create index search_runs_feedback_at on search_runs (feedback_at) where feedback_at is not null;

-- Whose an answer is, and what it stands on: the same question that finds the same gets it again.
alter table answer_cache
  add column owner text,
  add column question_key text,
  add column found_key text,
  add column record_hashes text[] not null default '{}',  -- of the sources, in their order
  add column citations jsonb not null default '[]',
  add column unsupported text[] not null default '{}';
create index answer_cache_question_key on answer_cache (question_key, created_at desc);
