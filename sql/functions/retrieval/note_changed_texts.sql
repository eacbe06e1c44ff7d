-- Records which rows of a table have a new text, for champion_rows; other changes do not matter to word searches.
create or replace function note_changed_texts() returns trigger
language plpgsql
as $$
declare
  max_noted constant int := 501;  -- per statement: one more than champion_rows reads
begin
  if tg_op = 'INSERT' then
    insert into text_changes (of_table, id) select tg_table_name, n.id from new_rows n limit max_noted;
  else
    insert into text_changes (of_table, id)
    select tg_table_name, c.id
    from (select n.id, n.text_search from new_rows n except all select o.id, o.text_search from old_rows o) c limit max_noted;
  end if;
  return null;
end
$$;
select keep_texts_noted(t.searched)
from unnest('{motions,agenda_items,matters,document_sections,key_statements,transcript_segments,campaigns,companies}'::regclass[]) t (searched)
union all
select keep_texts_noted(i.inhrelid) from pg_inherits i where i.inhparent = 'collection_rows'::regclass;
