-- Of a word that very many rows hold, which rows hold it best: what else would have to be told by ranking them all.

alter table lexeme_counts add column best_rows text[];
comment on column lexeme_counts.best_rows is 'Of a word of many rows, those that hold it best, best first, when they were last counted (count_lexemes)';

-- The rows whose text was written since the words of their table were counted; a search looks at them beside the best rows. Of a
-- statement that writes very many, some: they are too many to be looked at. Nothing is unique, or writers would wait for each other.
create table text_changes (
  of_table text not null,
  id text not null
);
create index text_changes_of_table on text_changes (of_table);

-- Sees to it that note_changed_texts is called for a table. A trigger that is there is left: making it anew would wait for the table's
-- writers.
create function keep_texts_noted(p_table regclass) returns void
language plpgsql
as $$
declare
  operation text;
  rows_named text;
begin
  for operation, rows_named in values ('insert', 'new table as new_rows'), ('update', 'old table as old_rows new table as new_rows') loop
    if not exists (select from pg_trigger where tgname = 'texts_noted_' || operation and tgrelid = p_table) then
      execute format('create trigger %I after %s on %s referencing %s for each statement execute function note_changed_texts()',
        'texts_noted_' || operation, operation, p_table, rows_named);
    end if;
  end loop;
end
$$;
