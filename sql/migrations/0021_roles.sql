-- Who may do what. The owner of the schema migrates; its tables and functions are changed by nobody else. `quarry_loading` changes
-- rows: it loads, embeds and cleans up. `quarry_serving` answers requests: it reads all but contact details, which two functions
-- give that check, and writes what requests leave behind. Roles that log in are made members of one; the owner may do without both.
--
-- A table that is made later is read by serving and changed by loading. A later migration grants what serving writes, and, of
-- people, each column that serving may read.

do $$
declare
  wanted text;
begin
  foreach wanted in array array['quarry_serving', 'quarry_loading'] loop
    begin
      if to_regrole(wanted) is null then
        execute format('create role %I nologin', wanted);
      end if;
    exception
      when duplicate_object or unique_violation then null;  -- another database of this cluster was migrated at the same moment
      when insufficient_privilege then
        raise exception 'Quarry needs the role %; let an administrator run: create role % nologin', wanted, wanted
          using errcode = 'insufficient_privilege';
    end;
  end loop;
end $$;

-- searches of workspaces act as it
do $$
begin
  if not pg_has_role('quarry_serving', 'quarry_ontology_reader', 'member') then
    grant quarry_ontology_reader to quarry_serving;
  end if;
exception
  when unique_violation then null;
  when insufficient_privilege then
    raise exception 'Serving must be able to act as the role quarry_ontology_reader; let an administrator run: grant quarry_ontology_reader to quarry_serving'
      using errcode = 'insufficient_privilege';
end $$;

do $$
declare
  ours constant text := quote_ident(current_schema());
begin
  execute format('grant usage on schema %s to quarry_serving, quarry_loading', ours);
  execute format('grant select on all tables in schema %s to quarry_serving', ours);
  execute format('grant select, insert, update, delete, truncate on all tables in schema %s to quarry_loading', ours);
  execute format('grant usage on all sequences in schema %s to quarry_serving, quarry_loading', ours);
  execute format('alter default privileges in schema %s grant select on tables to quarry_serving', ours);
  execute format('alter default privileges in schema %s grant select, insert, update, delete, truncate on tables to quarry_loading', ours);
  execute format('alter default privileges in schema %s grant usage on sequences to quarry_serving, quarry_loading', ours);
  if current_setting('server_version_num')::int >= 170000 then
    -- the planner's statistics after a load; before 17 they wait for autovacuum
    execute format('grant maintain on all tables in schema %s to quarry_loading', ours);
    execute format('alter default privileges in schema %s grant maintain on tables to quarry_loading', ours);
  end if;
end $$;

-- What leaves a workspace is shown by the policies for quarry_ontology_reader. Before that, both see all rows, as the owner does.
do $$
declare
  guarded text;
begin
  foreach guarded in array array['onto_projects', 'onto_tasks', 'onto_plans', 'onto_goals', 'onto_milestones', 'onto_documents',
    'onto_outputs', 'onto_requirements', 'onto_search_entries', 'facet_values'] loop
    execute format('create policy %I on %I for select to quarry_serving using (true)', guarded || '_for_serving', guarded);
    execute format('create policy %I on %I to quarry_loading using (true) with check (true)', guarded || '_for_loading', guarded);
  end loop;
end $$;

revoke insert, update, delete, truncate on quarry_migrations, quarry_functions from quarry_loading;

-- all but email, phone and links
revoke select on people from quarry_serving;
grant select (
  id, open_to_work, open_to_contact, work_preferred_salary_min, work_preferred_locations, work_preferred_locations_norm,
  name, headline, bio, city, country
) on people to quarry_serving;

grant insert, update, delete on
  answer_cache, contact_unlocks, conversations, credit_accounts, idempotency_keys, people_search_results, people_searches,
  rate_windows, run_events, run_streams, saved_search_results, saved_searches, search_run_results, search_run_steps, search_runs
  to quarry_serving;
grant insert on credit_ledger to quarry_serving;
