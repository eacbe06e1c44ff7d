-- A project workspace: projects, and seven kinds of thing in them. Every row belongs to the actor that made it, `created_by`, which
-- is the verified user's id, and only that actor finds it. What a kind of thing has beside its title is in `props`, by whatever
-- names its owner uses; all texts in there are searched.

create extension if not exists btree_gin;

-- The second wall. Whatever leaves a workspace is read as this role, which sees no row but those of the actor named in the setting
-- quarry.actor. The owner of the tables, who loads them, is not held by it.
do $$
begin
  if not exists (select from pg_roles where rolname = 'quarry_ontology_reader') then
    create role quarry_ontology_reader nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;  -- another database of this cluster was migrated at the same moment
  when insufficient_privilege then
    raise exception 'Quarry needs the role quarry_ontology_reader; let an administrator run: create role quarry_ontology_reader nologin; grant quarry_ontology_reader to %', current_user
      using errcode = 'insufficient_privilege';
end $$;

do $$
declare
  own_role constant text := current_setting('role');
begin
  begin
    perform set_config('role', 'quarry_ontology_reader', true);
  exception when insufficient_privilege then
    grant quarry_ontology_reader to current_user;
    perform set_config('role', 'quarry_ontology_reader', true);
  end;
  perform set_config('role', own_role, true);
exception when insufficient_privilege then
  raise exception 'Quarry must be able to act as the role quarry_ontology_reader; let an administrator run: grant quarry_ontology_reader to %', current_user
    using errcode = 'insufficient_privilege';
end $$;

-- The texts in props for a reader, Markdown's marks taken out: prose first, then what is shorter (states, names, dates).
create function onto_readable_text(props jsonb) returns text
language sql immutable parallel safe
return (
  select coalesce(string_agg(
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(v.text,
      '[ \t]+', ' ', 'g'),
      '!?\[([^][]*)\]\([^()\s]*\)', '\1', 'g'),  -- links and images
      '^[ |:]*-{3}[ |:-]*$|^ ?(#{1,6}|>|[-*+]|```\w*|~~~\w*)( |$)', '', 'gn'),  -- rules, headings, quotes, bullets, fences
      '\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)', '', 'g'),  -- emphasis and code
      ' ?\| ?', ' ', 'g'),  -- tables
      '\s*\n\s*', E'\n', 'g'),
    E'\n' order by length(v.text) < 40, v.place), '')
  from (
    select t.value #>> '{}' as text, t.place
    from jsonb_path_query(props, 'strict $.** ? (@.type() == "string")') with ordinality t (value, place)
  ) v
);

create table onto_projects (
  id text primary key,
  created_by text not null,
  name text not null,
  description text
);

create table onto_tasks (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  title text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_tasks_project_id on onto_tasks (project_id);

create table onto_plans (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  name text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', name), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_plans_project_id on onto_plans (project_id);

create table onto_goals (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  name text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', name), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_goals_project_id on onto_goals (project_id);

create table onto_milestones (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  title text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_milestones_project_id on onto_milestones (project_id);

create table onto_documents (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  title text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', title), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_documents_project_id on onto_documents (project_id);

create table onto_outputs (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  name text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', name), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_outputs_project_id on onto_outputs (project_id);

create table onto_requirements (
  id text primary key,
  project_id text not null references onto_projects,
  created_by text not null,
  text text not null,
  props jsonb not null default '{}' check (jsonb_typeof(props) = 'object'),
  created_at timestamptz,
  updated_at timestamptz,
  search_vector tsvector not null generated always as (
    setweight(to_tsvector('english', text), 'A') || setweight(jsonb_to_tsvector('english', props, '["string"]'), 'B')) stored
);
create index onto_requirements_project_id on onto_requirements (project_id);

-- What search reads: an entry for each row of the seven tables, kept in step by their triggers. One index serves all types, and the
-- actor comes first in it, so that a search touches only what is the actor's own.
create table onto_search_entries (
  type text not null,
  id text not null,
  project_id text not null,
  created_by text not null,
  title text not null,
  search_vector tsvector not null,
  readable_text text not null,
  primary key (type, id)
);
create index onto_search_entries_search on onto_search_entries using gin (created_by, search_vector, title gin_trgm_ops) with (fastupdate = off);

-- Keeps the entries of one table; the argument is the type of its rows.
create function onto_keep_search_entry() returns trigger
language plpgsql
as $$
declare
  its_type constant text := tg_argv[0];
  its_title text;
begin
  if tg_op = 'TRUNCATE' then
    delete from onto_search_entries e where e.type = its_type;
    return null;
  end if;
  if tg_op = 'DELETE' or (tg_op = 'UPDATE' and old.id <> new.id) then
    delete from onto_search_entries e where e.type = its_type and e.id = old.id;
  end if;
  if tg_op = 'DELETE' then
    return null;
  end if;
  case
    when its_type in ('task', 'milestone', 'document') then its_title := new.title;
    when its_type = 'requirement' then its_title := new.text;
    else its_title := new.name;
  end case;
  insert into onto_search_entries as e (type, id, project_id, created_by, title, search_vector, readable_text)
  values (its_type, new.id, new.project_id, new.created_by, its_title, new.search_vector, onto_readable_text(new.props))
  on conflict (type, id) do update set project_id = excluded.project_id, created_by = excluded.created_by,
    title = excluded.title, search_vector = excluded.search_vector, readable_text = excluded.readable_text;
  return null;
end
$$;

create trigger onto_tasks_search_entry after insert or update or delete on onto_tasks for each row execute function onto_keep_search_entry('task');
create trigger onto_tasks_search_entries after truncate on onto_tasks execute function onto_keep_search_entry('task');
create trigger onto_plans_search_entry after insert or update or delete on onto_plans for each row execute function onto_keep_search_entry('plan');
create trigger onto_plans_search_entries after truncate on onto_plans execute function onto_keep_search_entry('plan');
create trigger onto_goals_search_entry after insert or update or delete on onto_goals for each row execute function onto_keep_search_entry('goal');
create trigger onto_goals_search_entries after truncate on onto_goals execute function onto_keep_search_entry('goal');
create trigger onto_milestones_search_entry after insert or update or delete on onto_milestones for each row execute function onto_keep_search_entry('milestone');
create trigger onto_milestones_search_entries after truncate on onto_milestones execute function onto_keep_search_entry('milestone');
create trigger onto_documents_search_entry after insert or update or delete on onto_documents for each row execute function onto_keep_search_entry('document');
create trigger onto_documents_search_entries after truncate on onto_documents execute function onto_keep_search_entry('document');
create trigger onto_outputs_search_entry after insert or update or delete on onto_outputs for each row execute function onto_keep_search_entry('output');
create trigger onto_outputs_search_entries after truncate on onto_outputs execute function onto_keep_search_entry('output');
create trigger onto_requirements_search_entry after insert or update or delete on onto_requirements for each row execute function onto_keep_search_entry('requirement');
create trigger onto_requirements_search_entries after truncate on onto_requirements execute function onto_keep_search_entry('requirement');

alter table onto_projects enable row level security;
create policy onto_projects_of_the_actor on onto_projects for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_projects to quarry_ontology_reader;
alter table onto_tasks enable row level security;
create policy onto_tasks_of_the_actor on onto_tasks for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_tasks to quarry_ontology_reader;
alter table onto_plans enable row level security;
create policy onto_plans_of_the_actor on onto_plans for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_plans to quarry_ontology_reader;
alter table onto_goals enable row level security;
create policy onto_goals_of_the_actor on onto_goals for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_goals to quarry_ontology_reader;
alter table onto_milestones enable row level security;
create policy onto_milestones_of_the_actor on onto_milestones for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_milestones to quarry_ontology_reader;
alter table onto_documents enable row level security;
create policy onto_documents_of_the_actor on onto_documents for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_documents to quarry_ontology_reader;
alter table onto_outputs enable row level security;
create policy onto_outputs_of_the_actor on onto_outputs for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_outputs to quarry_ontology_reader;
alter table onto_requirements enable row level security;
create policy onto_requirements_of_the_actor on onto_requirements for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_requirements to quarry_ontology_reader;
alter table onto_search_entries enable row level security;
create policy onto_search_entries_of_the_actor on onto_search_entries for select using (created_by = current_setting('quarry.actor', true));
grant select on onto_search_entries to quarry_ontology_reader;
