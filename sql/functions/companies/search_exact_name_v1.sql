-- The companies with a name or one like it, best first. name_score is 1 if the text equals the name, a former name or the web domain
-- (ignoring case, accents, spaces and punctuation), otherwise the trigram similarity of text and name. Finds names that are equal or at
-- least p_min_similarity similar, and companies whose web address contains the text.
-- A word in very many names ("Robotics") says little about a name: of the thousands of names with it, those that share nothing else with
-- the text are only found if no company is found without them.
--
-- `matched` says what matched: name, former_name or domain. Of equal scores, an exactly spelled name comes first, then a name, a former
-- name, a domain. Without p_statuses: companies of every status.
create or replace function search_exact_name_v1(
  p_query_text text, p_statuses text[] default array['startup'], p_limit int default 5, p_min_similarity double precision default 0.35
) returns table (company_id text, company_name text, name_score double precision, matched text, status text)
language plpgsql stable
set enable_seqscan = off
set pg_trgm.similarity_threshold = 0.35
set pg_trgm.word_similarity_threshold = 0.01
as $$
declare
  similar_max_length constant int := 100;  -- a longer text is a message, not a misspelled name
  common constant int := 2000;  -- companies with a word
  least_shared constant float8 := 0.01;  -- one trigram of a text of this length
  address_min_length constant int := 3;
  address_max_rows constant int := 100;  -- a text like "com" is in every address
  address_max_looked_at constant int := 1000;
  asked constant text := btrim(p_query_text);
  asked_key constant text := name_key(asked);
  asked_domain constant text := case when asked ~ '^\S+\.\S+$' then website_domain(asked) end;
  part text := replace(asked, ' ', '');
  -- the index looks up the longest run of letters and digits; without one it would be read completely
  core constant text := (
    select r.run from regexp_split_to_table(left(part, similar_max_length), '[^[:alnum:]]+') r (run) order by length(r.run) desc limit 1);
  short boolean;
  -- the words that are not common: few names share trigrams with them
  resembled text := coalesce((
    select string_agg(w.word, ' ') from regexp_split_to_table(left(asked, similar_max_length), '[^[:alnum:]]+') w (word)
    where exists (
      select from unnest(said_words(null, w.word)) s left join lexeme_counts c on c.lexeme = s.lexeme and c.of_table = 'companies'
      where coalesce(c.rows, 0) <= common)), asked);
begin
  if coalesce(asked, '') = '' then
    return;
  end if;
  short := length(asked) <= similar_max_length;
  part := case when short and length(core) >= address_min_length
    then '%' || replace(replace(replace(part, '\', '\\'), '%', '\%'), '_', '\_') || '%' end;
  -- for this call only: the function's own setting is restored after it
  perform set_config('pg_trgm.similarity_threshold', p_min_similarity::text, true),
    set_config('pg_trgm.word_similarity_threshold', least(least_shared, p_min_similarity)::text, true);

  loop
    return query
    with found as (
      select c.id from companies c where c.name_key = asked_key
      union
      select c.id from companies c where c.former_name_keys @> array[asked_key]
      union
      select c.id from companies c where c.domain = asked_domain
      union
      select c.id from companies c where short and c.company_name % asked and resembled <% c.company_name
      union
      (select c.id from (
         select c.id, c.website_url from companies c where part is not null and c.website_url ilike '%' || core || '%' limit address_max_looked_at) c
       where c.website_url ilike part limit address_max_rows)
    ), scored as (
      select c.id, c.company_name, c.status, similarity(c.company_name, asked) as similarity, case
          when c.name_key = asked_key then 'name'
          when c.former_name_keys @> array[asked_key] then 'former_name'
          when c.domain = asked_domain then 'domain'
        end as equal
      from found f join companies c on c.id = f.id
      where p_statuses is null or c.status = any(p_statuses)
    )
    select s.id, s.company_name, case when s.equal is null then s.similarity else 1 end::float8,
      coalesce(s.equal, case when s.similarity >= p_min_similarity::real then 'name' else 'domain' end), s.status
    from scored s
    order by 3 desc, lower(s.company_name) = lower(asked) desc,
      array_position(array['name', 'former_name', 'domain'], s.equal), s.company_name, s.id
    limit p_limit;
    exit when found or resembled = asked;
    resembled := asked;
  end loop;
end
$$;
