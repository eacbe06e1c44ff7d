-- What a run was asked with, as its request had it, so that it can be asked again. Of a conversation the answers are left out, which
-- quote records; what is very long is not kept. And the answer that it gave, where that is kept.
alter table search_runs
  add column request jsonb,
  add column answer_id text;
