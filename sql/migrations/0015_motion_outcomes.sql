-- What a motion's result says is a column each: the word for how it went, "Carried" of "Carried 7–2" and "failed" of "Motion failed (3 to
-- 12)", and the votes for and against, as they are written and as they are said.
alter table motions
  add column outcome text generated always as (substring(result from
    '(?i)^(?:(?:the|this|motion|item|resolution|amendment|bill|vote|was|is|were) +)*([[:alpha:]]+)')) stored,
  add column tally text[] generated always as (array_remove(array[
    substring(result from '\d+ ?(?:to|[-–:]) ?\d+'),
    regexp_replace(substring(result from '\d+ ?(?:to|[-–:]) ?\d+'), ' ?(?:to|[-–:]) ?', ' to ')], null)) stored;

-- What is shown of a record is read from its own table.
drop view if exists record_texts;
