-- What a child of a card says, as its search vector has it (text_search).
create or replace function child_text(k experience_card_children) returns text
language sql immutable parallel safe
return searchable_text(k.title, k.headline, k.summary, k.context, joined_names(k.tags), joined_names(k.search_phrases));
