-- The queries that an answer rests on, each with a digest of its result: an answer is given again while they give the same.
alter table answer_cache add column queries jsonb not null default '[]';
