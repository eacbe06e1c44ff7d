-- What the check of an answer found, statement by statement, and the ground of its level in words. The levels that were given before
-- rested on the number and similarity of sources, which say little of whether an answer is right: they are not kept.
alter table answer_cache add column statements jsonb not null default '[]';
alter table answer_cache add column confidence_label text;
alter table answer_cache alter column confidence drop not null;
update answer_cache set confidence = null;
