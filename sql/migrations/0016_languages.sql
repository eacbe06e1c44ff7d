-- Rows of one collection may be in several languages: each row knows its own, and the collection which there are.
alter table collection_rows add column language text;
create index collection_rows_language on collection_rows (language) where language is not null;
alter table collections add column languages text[] not null default '{}';

-- What its functions were made as: those of an earlier version are made anew, and its rows read anew by them.
alter table collections add column functions_hash text not null default '';
