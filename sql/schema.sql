--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: quarry; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA quarry;


--
-- Name: btree_gin; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;


--
-- Name: fuzzystrmatch; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS fuzzystrmatch WITH SCHEMA public;


--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


--
-- Name: vector; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;


--
-- Name: card_filters; Type: TYPE; Schema: quarry; Owner: -
--

CREATE TYPE quarry.card_filters AS (
	companies text[],
	teams text[],
	intents text[],
	domains text[],
	sub_domains text[],
	employment_types text[],
	seniority_levels text[],
	places text[],
	countries text[],
	time_start date,
	time_end date,
	is_current boolean,
	open_to_work_only boolean,
	preferred_locations text[],
	offer_salary double precision,
	excluded_companies text[],
	excluded_keywords text[],
	roles text[],
	schools text[],
	started_from date,
	started_until date,
	ended_from date,
	ended_until date,
	excluded_teams text[],
	excluded_places text[],
	excluded_current boolean,
	excluded_time_start date,
	excluded_time_end date,
	experience_least integer,
	experience_most integer,
	experience_on date,
	or_preferred_locations text[]
);


--
-- Name: weighed_query; Type: TYPE; Schema: quarry; Owner: -
--

CREATE TYPE quarry.weighed_query AS (
	words text[],
	weights double precision[],
	mean_length double precision,
	possible double precision,
	required tsquery,
	near tsquery[],
	near_weights double precision[]
);


--
-- Name: agenda_items_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.agenda_items_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from agenda_items t, lateral (select distinct a.* from (
        select 'category', t.category
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from agenda_items t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from agenda_items t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: all_excluded(quarry.card_filters); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.all_excluded(f quarry.card_filters) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((((f).excluded_keywords || (f).excluded_companies) || (f).excluded_teams) || (f).excluded_places);


--
-- Name: all_roles(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.all_roles(p_roles text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when count(*) = count(r.names) then string_agg(distinct '(' || r.names || ')', ' & ')::tsquery end
  from unnest(p_roles) u (role), lateral (
    select string_agg(distinct '(' || q.words::text || ')', ' | ')
    from unnest(string_to_array(u.role, '|')) n (name), index_query(plainto_tsquery('english', searchable_text(n.name))) q (words)
    where numnode(q.words) > 0
  ) r (names)
$$;


--
-- Name: any_phrase(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.any_phrase(p_phrases text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select string_agg('(' || q.phrase::text || ')', ' | ')::tsquery
  from unnest(p_phrases) u (text), phraseto_tsquery('english', searchable_text(u.text)) q (phrase)
  where numnode(q.phrase) > 0
$$;


--
-- Name: any_place(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.any_place(p_places text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select string_agg('(' || q.place::text || ')', ' | ')::tsquery
  from unnest(p_places) u (text), phraseto_tsquery('simple', regexp_replace(u.text, '\W+', ' ', 'g')) q (place)
  where numnode(q.place) > 0
$$;


--
-- Name: asked_words(regconfig, text, boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.asked_words(p_language regconfig, p_text text, p_as_phrase boolean DEFAULT false) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case
    when p_language is null and p_as_phrase then phraseto_tsquery('english', paired_letters(p_text))
    when p_language is null then websearch_to_tsquery('english', paired_letters(p_text))
    when p_as_phrase then unaccented(phraseto_tsquery(p_language, paired_letters(p_text))::text)::tsquery
    else unaccented(websearch_to_tsquery(p_language, paired_letters(p_text))::text)::tsquery end
$$;


--
-- Name: best_passage(text, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.best_passage(p_text text, p_patterns text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
declare
  passage_length constant int := 220;
  max_text constant int := 20000;
  lead constant int := 100;  -- characters before the match
  least_length constant int := 140;  -- to keep when ending at a sentence
  sentence_end constant text := '[.!?]["”’)]*\s+|[。！？]|\n';
  last_place constant int := length(p_text) - passage_length + 1;
  place int;
  passage text;
  sentence text;
  pattern text;
  other text;
  hits int;
  best_place int := 1;
  best_hits int := 0;
begin
  if last_place <= 1 then
    return p_text;
  end if;
  foreach pattern in array p_patterns loop
    place := regexp_instr(left(p_text, max_text), pattern, 1, 1, 0, 'i');
    continue when place = 0;
    place := greatest(1, least(place - lead, last_place));
    if cardinality(p_patterns) = 1 then
      best_place := place;
      exit;
    end if;
    passage := substr(p_text, place, passage_length);
    hits := 0;
    foreach other in array p_patterns loop
      if passage ~* other then
        hits := hits + 1;
      end if;
    end loop;
    if hits > best_hits then
      best_hits := hits;
      best_place := place;
    end if;
    exit when best_hits = cardinality(p_patterns);
  end loop;
  passage := substr(p_text, best_place, passage_length);
  if best_place < last_place then
    sentence := substring(passage from '^(.*(?:[.!?]["”’)]*(?=\s)|[。！？]))');
    passage := case
      when length(sentence) >= least_length then sentence
      -- without a partial word
      else coalesce(left(passage, -nullif(strpos(reverse(passage), ' '), 0)), passage) || ' …'
    end;
  end if;
  if best_place > 1 then
    sentence := substring(left(passage, lead) from '^(.*(?:' || sentence_end || '))');
    passage := case
      when sentence is not null then substr(passage, 1 + length(sentence))
      else '… ' || substr(passage, 1 + strpos(passage, ' '))
    end;
  end if;
  return passage;
end
$$;


--
-- Name: bounded_index_query(regclass, tsquery, double precision); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.bounded_index_query(p_table regclass, p_query tsquery, p_max_postings double precision) RETURNS tsquery
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  few_words constant int := 3;
  indexed constant tsquery := index_query(p_query);
  excluded constant text[] := array(select m.word[1] from regexp_matches(p_query::text, $re$(?:^| )!('(?:[^']|'')+')$re$, 'g') m (word));
  words text[];
begin
  if p_query::text like '%|%' or excluded = '{}' and numnode(indexed) < 2 * few_words then
    return indexed;
  end if;
  words := array(select m.word[1] from regexp_matches(indexed::text, $re$'(?:[^']|'')+'$re$, 'g') m (word));
  return (
    select string_agg(case when t.is_excluded then '!' else '' end || t.word, ' & ' order by t.place)::tsquery
    from (
      select w.word, w.is_excluded, row_number() over in_order as place, sum(w.rows) over in_order as so_far
      from (
        select u.word, u.place > cardinality(words) as is_excluded, coalesce(c.rows, 1) as rows, u.place
        from unnest(words || excluded) with ordinality u (word, place)
        left join lexeme_counts c on c.lexeme = replace(btrim(u.word, ''''), '''''', '''') and c.of_table = p_table::text
      ) w
      window in_order as (order by w.is_excluded, case when not w.is_excluded then w.rows end, w.place)
    ) t
    where t.so_far <= p_max_postings or t.place = 1);
end
$_$;


--
-- Name: campaigns_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.campaigns_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from campaigns t, lateral (select distinct a.* from (
        select 'company', t.company
        union all select 'brand', t.brand
        union all select 'channel', t.channel
        union all select 'value_prop', unnest(t.key_value_props)
        union all select 'sentiment', t.imagery_sentiment
        union all select 'visual_style', t.imagery_visual_style
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: candidate_queries(regclass, text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.candidate_queries(p_table regclass, p_words text[], p_rows integer) RETURNS tsquery[]
    LANGUAGE sql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  with words as materialized (
    select w.word, coalesce(c.rows, 0)::float8 as df, sum(coalesce(c.rows, 0)) over (order by coalesce(c.rows, 0), w.word)::float8 as so_far,
      greatest(1, t.rows)::float8 as total
    from unnest(p_words) w (word)
    left join lexeme_counts c on c.lexeme = w.word and c.of_table = p_table::text
    left join text_totals t on t.of_table = p_table::text
  ), singly as (
    select quote_literal(w.word) as part, w.so_far from words w where w.so_far <= p_rows / 2
  ), others as (
    select w.word, row_number() over (order by w.df, w.word)::int - 1 as place, least(5, count(*) over ())::int as words
    from words w where w.so_far > p_rows / 2
  ), pairs as (
    select quote_literal(a.word) || ' & ' || quote_literal(b.word) as part, a.df, least(a.df, 3 * a.df * b.df / a.total) as expected
    from words a join words b on (a.df, a.word) < (b.df, b.word)
    where a.so_far > p_rows / 2
    order by 3, 1 limit 16
  ), summed as (
    select p.part, p.expected, sum(p.expected) over so as so_far, sum(p.df) over so as read, row_number() over so as place
    from pairs p window so as (order by p.expected, p.part)
  ), chosen as (
    select s.* from summed s
    where s.place = 1 or s.read <= 20::float8 * p_rows and s.so_far - s.expected + (select coalesce(max(y.so_far), 0) from singly y) <= p_rows
  ), joined as (
    select string_agg(quote_literal(o.word), ' & ' order by o.place) as part
    from others o, generate_series(1, (1 << o.words) - 1) taken (places)
    where o.words > 2 and o.place < o.words and (taken.places >> o.place) & 1 = 1 and (select sum(p.df) from pairs p) > 4::float8 * p_rows
    group by taken.places having count(*) = max((o.words + 3) / 2)
  )
  select array[
    (select string_agg(y.part, ' | ' order by y.so_far) from singly y)::tsquery,
    (select string_agg(j.part, ' | ' order by j.part) from joined j)::tsquery,
    (select string_agg(c.part, ' | ' order by c.place) from chosen c)::tsquery,
    (select quote_literal(w.word) from words w
     where w.so_far > p_rows / 2 and p_rows / 10 > coalesce((select max(y.so_far) from singly y), 0) + coalesce((select max(c.so_far) from chosen c), 0)
     order by w.so_far limit 1)::tsquery]
$$;


--
-- Name: card_condition(name, quarry.card_filters, text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_condition(p_row name, p_filters quarry.card_filters, p_excluded_people text[], p_among text[]) RETURNS text
    LANGUAGE sql STABLE
    AS $_$
  select format(
      case when (p_filters).open_to_work_only is not null or (p_filters).preferred_locations is not null or (p_filters).or_preferred_locations is not null
          or (p_filters).offer_salary is not null or (p_filters).experience_on is not null
        then 'exists (select from people p where p.id = %1$I.person_id and card_matches(%1$I, p, %2$L))'
        else 'card_matches(%1$I, null::people, %2$L)' end, p_row, p_filters)
    || case when p_excluded_people <> '{}' then format(' and %I.person_id <> all (%L::text[])', p_row, p_excluded_people) else '' end
    || case when p_among is not null then format(' and %I.person_id = any (%L::text[])', p_row, p_among) else '' end
$_$;


--
-- Name: has_paired_letters(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.has_paired_letters(p_text text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((octet_length(p_text) <> length(p_text)) AND (p_text ~ '[\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]'::text));


--
-- Name: letter_runs(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.letter_runs(p_text text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN (m.part[1] ~ '[\u1100-\u11FF\u3099\u309A\u3130-\u318F\uFF66-\uFF9F]'::text) THEN NORMALIZE(m.part[1], NFKC)
             ELSE m.part[1]
         END AS part
    FROM regexp_matches(letter_runs.p_text, '[\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF]+'::text, 'g'::text) m(part);
END;


--
-- Name: letters_of_run(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.letters_of_run(p_run text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT m.letter[1] AS letter
    FROM regexp_matches(letters_of_run.p_run, '.[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECD\u102B-\u103E\u1056-\u1059\u17B4-\u17D3]*'::text, 'g'::text) m(letter);
END;


--
-- Name: pairs_of_run(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.pairs_of_run(p_run text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT string_agg((u.letter || COALESCE(u.next, ''::text)), ' '::text ORDER BY u.place) AS string_agg FROM (SELECT l.letter, l.place, lead(l.letter) OVER (ORDER BY l.place) AS next FROM quarry.letters_of_run(pairs_of_run.p_run) WITH ORDINALITY l(letter, place)) u WHERE ((u.next IS NOT NULL) OR (u.place = 1)));


--
-- Name: pairs_of_text(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.pairs_of_text(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT string_agg(CASE WHEN (m.part[1] IS NOT NULL) THEN ((' '::text || quarry.pairs_of_run((SELECT string_agg(r.run, ''::text) AS string_agg FROM quarry.letter_runs(m.part[1]) r(run)))) || ' '::text) ELSE COALESCE(NORMALIZE(m.part[2], NFKC), m.part[3]) END, ''::text ORDER BY m.place) AS string_agg FROM regexp_matches(pairs_of_text.p_text, '([\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF]+)|([\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]+)|([^\u0E01-\u0E3A\u0E40-\u0E4E\u0E81-\u0EBD\u0EC0-\u0ECD\u1000-\u103F\u1050-\u109F\u1100-\u11FF\u1780-\u17D3\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309A\u309D-\u309F\u30A1-\u30FA\u30FC-\u318F\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF66-\uFF9F\U00020000-\U0003FFFF\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]+)'::text, 'g'::text) WITH ORDINALITY m(part, place));


--
-- Name: paired_letters(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.paired_letters(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN quarry.has_paired_letters(p_text) THEN quarry.pairs_of_text(p_text) ELSE p_text END;


--
-- Name: single_letters(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.single_letters(p_text text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_tsvector(ARRAY(SELECT DISTINCT l.letter FROM quarry.letter_runs(single_letters.p_text) r(run), LATERAL quarry.letters_of_run(r.run) l(letter)));


--
-- Name: english_words(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.english_words(p_text text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN quarry.has_paired_letters(p_text) THEN (to_tsvector('english'::regconfig, quarry.paired_letters(p_text)) || quarry.single_letters(p_text)) ELSE to_tsvector('english'::regconfig, p_text) END;


--
-- Name: joined_names(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.joined_names(names text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_string(names, ', '::text);


--
-- Name: joined_text(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.joined_text(VARIADIC parts text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_string(parts, '
'::text);


--
-- Name: place_words(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.place_words(place text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_tsvector('simple'::regconfig, regexp_replace(place, '\W+'::text, ' '::text, 'g'::text));


--
-- Name: searchable_text(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.searchable_text(VARIADIC parts text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN regexp_replace(regexp_replace(quarry.paired_letters(quarry.joined_text(VARIADIC parts)), '\m(c)\+\+'::text, '\1plusplus'::text, 'gi'::text), '\m([cfj])#'::text, '\1sharp'::text, 'gi'::text);


--
-- Name: role_words(text, text, text, text, text[], text, text, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.role_words(title text, domain text, sub_domain text, team text, skills text[], seniority_level text, employment_type text, intent_primary text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_tsvector('english'::regconfig, quarry.searchable_text(VARIADIC ARRAY[title, domain, sub_domain, team, quarry.joined_names(skills), seniority_level, replace(employment_type, '_'::text, ' '::text), CASE WHEN (intent_primary <> 'work'::text) THEN replace(intent_primary, '_'::text, ' '::text) ELSE NULL::text END]));


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: experience_cards; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.experience_cards (
    id text NOT NULL,
    person_id text NOT NULL,
    visible boolean DEFAULT true NOT NULL,
    is_current boolean,
    start_date date,
    end_date date,
    intent_primary text NOT NULL,
    employment_type text,
    seniority_level text,
    company_norm text GENERATED ALWAYS AS (lower(btrim(company_name))) STORED,
    team_norm text GENERATED ALWAYS AS (lower(btrim(team))) STORED,
    domain_norm text GENERATED ALWAYS AS (lower(btrim(domain))) STORED,
    sub_domain_norm text GENERATED ALWAYS AS (lower(btrim(sub_domain))) STORED,
    places tsvector GENERATED ALWAYS AS (quarry.place_words(quarry.joined_text(VARIADIC ARRAY[city, country, location]))) STORED NOT NULL,
    city_norm text GENERATED ALWAYS AS (lower(btrim(city))) STORED,
    country_norm text GENERATED ALWAYS AS (lower(btrim(country))) STORED,
    location text,
    title text NOT NULL,
    company_name text,
    team text,
    intent_secondary text[] DEFAULT '{}'::text[] NOT NULL,
    domain text,
    sub_domain text,
    city text,
    country text,
    summary text,
    skills text[] DEFAULT '{}'::text[] NOT NULL,
    search_phrases text[] DEFAULT '{}'::text[] NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[title, company_name, team, domain, sub_domain, location, summary, quarry.joined_names(skills), quarry.joined_names(search_phrases)]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.searchable_text(VARIADIC ARRAY[title, company_name, team, intent_primary, quarry.joined_names(intent_secondary), domain, sub_domain, employment_type, seniority_level, location, city, country, summary, quarry.joined_names(skills), quarry.joined_names(search_phrases)]))) STORED NOT NULL,
    role_search tsvector GENERATED ALWAYS AS (quarry.role_words(title, domain, sub_domain, team, skills, seniority_level, employment_type, intent_primary)) STORED NOT NULL,
    CONSTRAINT experience_cards_check CHECK ((start_date <= end_date)),
    CONSTRAINT experience_cards_employment_type_check CHECK ((employment_type = ANY (ARRAY['full_time'::text, 'part_time'::text, 'contract'::text, 'freelance'::text, 'internship'::text, 'self_employed'::text, 'volunteer'::text]))),
    CONSTRAINT experience_cards_intent_primary_check CHECK ((intent_primary = ANY (ARRAY['work'::text, 'education'::text, 'project'::text, 'business'::text, 'research'::text, 'teaching'::text, 'community'::text, 'certification'::text, 'achievement'::text, 'career_break'::text, 'other'::text]))),
    CONSTRAINT experience_cards_seniority_level_check CHECK ((seniority_level = ANY (ARRAY['intern'::text, 'entry'::text, 'mid'::text, 'senior'::text, 'lead'::text, 'manager'::text, 'director'::text, 'executive'::text, 'founder'::text])))
);


--
-- Name: card_family(quarry.experience_cards, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_family(c quarry.experience_cards, p_children text[] DEFAULT NULL::text[]) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
  select jsonb_build_object(
    'id', c.id, 'title', c.title, 'company_name', c.company_name, 'team', c.team, 'intent_primary', c.intent_primary,
    'intent_secondary', c.intent_secondary, 'domain', c.domain, 'sub_domain', c.sub_domain, 'employment_type', c.employment_type,
    'seniority_level', c.seniority_level, 'location', c.location, 'city', c.city, 'country', c.country, 'start_date', c.start_date,
    'end_date', c.end_date, 'is_current', c.is_current, 'summary', c.summary, 'skills', c.skills, 'search_phrases', c.search_phrases,
    'children', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', k.id, 'child_type', k.child_type, 'title', k.title, 'headline', k.headline, 'summary', k.summary,
        'context', k.context, 'tags', k.tags, 'search_phrases', k.search_phrases) order by k.id)
      from experience_card_children k
      where k.card_id = c.id and (p_children is null or k.id = any(p_children))), '[]'))
$$;


--
-- Name: card_is_excluded(quarry.experience_cards, quarry.card_filters, tsquery, tsquery, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_is_excluded(c quarry.experience_cards, f quarry.card_filters, p_keywords tsquery, p_said tsquery, p_places tsquery) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select (f.excluded_companies is not null and c.company_norm = any(f.excluded_companies))
    or (f.excluded_teams is not null and c.team_norm = any(f.excluded_teams))
    or (p_keywords is not null and c.text_search @@ p_keywords and says(card_text(c), p_said))
    or (p_places is not null and c.places @@ p_places)
    or ((f.excluded_time_start is not null or f.excluded_time_end is not null)
      and (c.start_date is not null or c.end_date is not null)
      and (f.excluded_time_end is null or c.start_date is null or c.start_date <= f.excluded_time_end)
      and (f.excluded_time_start is null or c.end_date is null or c.end_date >= f.excluded_time_start))
$$;


--
-- Name: card_location_matches(quarry.experience_cards, quarry.card_filters); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_location_matches(c quarry.experience_cards, f quarry.card_filters) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((((f).places IS NULL) OR ((c).places @@ quarry.any_place((f).places))) AND (((f).countries IS NULL) OR ((c).places @@ quarry.any_place((f).countries))));


--
-- Name: card_says_roles(quarry.experience_cards, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_says_roles(c quarry.experience_cards, p_roles tsquery) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE COST 1000 PARALLEL SAFE
    AS $$
declare
  own constant tsvector := to_tsvector('simple', searchable_text(
    c.title, c.domain, c.sub_domain, c.team, c.seniority_level, replace(c.employment_type, '_', ' '),
    case when c.intent_primary <> 'work' then replace(c.intent_primary, '_', ' ') end));
begin
  return own @@ p_roles or own || (
    select coalesce(to_tsvector('simple', searchable_text(joined_names(array_agg(s.skill)))), '')
    from unnest(c.skills) s (skill), to_tsvector('simple', searchable_text(s.skill)) w (words)
    where w.words @@ p_roles or tsvector_to_array(w.words) <@ tsvector_to_array(to_tsvector('simple', p_roles::text))) @@ p_roles;
end
$$;


--
-- Name: card_time_overlaps(quarry.experience_cards, quarry.card_filters); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_time_overlaps(c quarry.experience_cards, f quarry.card_filters) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((((f).time_start IS NULL) AND ((f).time_end IS NULL)) OR ((((c).start_date IS NOT NULL) OR ((c).end_date IS NOT NULL)) AND (((f).time_end IS NULL) OR ((c).start_date IS NULL) OR ((c).start_date <= (f).time_end)) AND (((f).time_start IS NULL) OR ((c).end_date IS NULL) OR ((c).end_date >= (f).time_start))));


--
-- Name: lowered_names(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.lowered_names(names text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(SELECT lower(btrim(name.name)) AS lower FROM unnest(lowered_names.names) name(name));


--
-- Name: said_roles(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.said_roles(p_roles text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when count(*) = count(r.names) then string_agg(distinct '(' || r.names || ')', ' & ')::tsquery end
  from unnest(p_roles) u (role), lateral (
    select string_agg(distinct '(' || n.words || ')', ' | ')
    from unnest(string_to_array(u.role, '|')) t (name), lateral (
      select string_agg(said_word(l.lexeme), ' & ') as words
      from unnest(to_tsvector('simple', searchable_text(t.name))) l
      where ts_lexize('english_stem', l.lexeme) <> '{}'
    ) n
  ) r (names)
$$;


--
-- Name: people; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.people (
    id text NOT NULL,
    open_to_work boolean DEFAULT false NOT NULL,
    open_to_contact boolean DEFAULT false NOT NULL,
    work_preferred_salary_min double precision,
    work_preferred_locations text[] DEFAULT '{}'::text[] NOT NULL,
    work_preferred_locations_norm text[] GENERATED ALWAYS AS (quarry.lowered_names(work_preferred_locations)) STORED NOT NULL,
    name text,
    headline text,
    bio text,
    city text,
    country text,
    email text,
    phone text,
    links text[] DEFAULT '{}'::text[] NOT NULL,
    experience_days integer,
    experience_since date,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.searchable_text(VARIADIC ARRAY[name, headline, bio]))) STORED NOT NULL,
    CONSTRAINT people_work_preferred_salary_min_check CHECK ((work_preferred_salary_min >= (0)::double precision))
);


--
-- Name: card_matches(quarry.experience_cards, quarry.people, quarry.card_filters); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_matches(c quarry.experience_cards, p quarry.people, f quarry.card_filters) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((c).visible AND (((f).companies IS NULL) OR ((c).company_norm = ANY ((f).companies))) AND (((f).schools IS NULL) OR (((c).company_norm = ANY ((f).schools)) AND ((c).intent_primary = 'education'::text))) AND (((f).teams IS NULL) OR ((c).team_norm = ANY ((f).teams))) AND (((f).roles IS NULL) OR (((c).role_search @@ quarry.all_roles((f).roles)) AND quarry.card_says_roles(c, quarry.said_roles((f).roles)))) AND (((f).intents IS NULL) OR ((c).intent_primary = ANY ((f).intents))) AND (((f).domains IS NULL) OR ((c).domain_norm = ANY ((f).domains))) AND (((f).sub_domains IS NULL) OR ((c).sub_domain_norm = ANY ((f).sub_domains))) AND (((f).employment_types IS NULL) OR ((c).employment_type = ANY ((f).employment_types))) AND (((f).seniority_levels IS NULL) OR ((c).seniority_level = ANY ((f).seniority_levels))) AND (((f).is_current IS NULL) OR ((c).is_current = (f).is_current)) AND (quarry.card_location_matches(c, f) OR (((f).or_preferred_locations IS NOT NULL) AND ((p).work_preferred_locations_norm && (f).or_preferred_locations))) AND quarry.card_time_overlaps(c, f) AND (((f).started_from IS NULL) OR ((c).start_date >= (f).started_from)) AND (((f).started_until IS NULL) OR ((c).start_date <= (f).started_until)) AND (((f).ended_from IS NULL) OR ((c).end_date >= (f).ended_from)) AND (((f).ended_until IS NULL) OR ((c).end_date <= (f).ended_until)) AND (((f).open_to_work_only IS NULL) OR ((p).open_to_work = (f).open_to_work_only)) AND (((f).preferred_locations IS NULL) OR ((p).work_preferred_locations_norm && (f).preferred_locations)) AND (((f).offer_salary IS NULL) OR ((p).work_preferred_salary_min IS NULL) OR ((p).work_preferred_salary_min <= (f).offer_salary)) AND (((f).experience_on IS NULL) OR ((((p).experience_days + COALESCE(GREATEST(((f).experience_on - (p).experience_since), 0), 0)) >= COALESCE((f).experience_least, 0)) AND (((p).experience_days + COALESCE(GREATEST(((f).experience_on - (p).experience_since), 0), 0)) <= COALESCE((f).experience_most, 2147483647)))));


--
-- Name: card_of_child(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_of_child() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $$
begin
  new.card_id := (select k.card_id from experience_card_children k where k.id = new.record_id);
  return new;
end
$$;


--
-- Name: card_rules_out(quarry.experience_cards, quarry.card_filters, quarry.card_filters, tsquery, tsquery, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_rules_out(c quarry.experience_cards, f quarry.card_filters, p_within quarry.card_filters, p_keywords tsquery, p_said tsquery, p_places tsquery) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select c.visible and (
    (f.excluded_current is not null and c.is_current = f.excluded_current)
    or card_matches(c, null::people, p_within) and card_is_excluded(c, f, p_keywords, p_said, p_places))
$$;


--
-- Name: card_text(quarry.experience_cards); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_text(c quarry.experience_cards) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN quarry.searchable_text(VARIADIC ARRAY[(c).title, (c).company_name, (c).team, (c).intent_primary, quarry.joined_names((c).intent_secondary), (c).domain, (c).sub_domain, (c).employment_type, (c).seniority_level, (c).location, (c).city, (c).country, (c).summary, quarry.joined_names((c).skills), quarry.joined_names((c).search_phrases)]);


--
-- Name: card_time_covered(quarry.experience_cards, quarry.card_filters); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.card_time_covered(c quarry.experience_cards, f quarry.card_filters) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (quarry.card_time_overlaps(c, f) AND (((f).time_start IS NULL) OR COALESCE(((c).start_date <= (f).time_start), false)) AND (((f).time_end IS NULL) OR COALESCE(((c).end_date >= (f).time_end), (((c).start_date IS NOT NULL) AND ((c).is_current IS NOT FALSE)))));


--
-- Name: cards_of_people(text[], quarry.card_filters, quarry.card_filters); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.cards_of_people(p_people text[], p_filters quarry.card_filters, p_asked quarry.card_filters) RETURNS TABLE(person_id text, card_id text, text_search tsvector, time_overlaps boolean, time_covered boolean, location_matches boolean)
    LANGUAGE plpgsql STABLE ROWS 300
    SET random_page_cost TO '1.1'
    AS $_$
begin
  return query execute format(
    'select c.person_id, c.id, ts_delete(c.text_search, ''''::text), card_time_overlaps(c, %1$L), card_time_covered(c, %1$L),
       coalesce(card_location_matches(c, %1$L), false)
     from experience_cards c where %2$s and card_is_excluded(c, %1$L, %3$L, %4$L, %5$L) is not true',
    p_asked, card_condition('c', p_filters, '{}', p_people), any_phrase(p_asked.excluded_keywords),
    said_phrases(p_asked.excluded_keywords), any_place(p_asked.excluded_places));
end
$_$;


--
-- Name: champion_lists(regclass, text[], integer[], double precision, double precision); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.champion_lists(p_table regclass, p_words text[], p_limits integer[], p_rows double precision, p_mean_length double precision) RETURNS TABLE(word text, ids text[])
    LANGUAGE plpgsql STABLE
    SET work_mem TO '64MB'
    SET enable_mergejoin TO 'off'
    AS $_$
declare
  b constant float8 := 0.75;
  share constant float8 := least(1, 20000 / greatest(1, p_rows));  -- the share of the rows in the sample
  nearly constant float8 := 0.95;  -- tolerance, since times_held is approximate
  own_score constant text := to_regproc(p_table || '_word_score') || '(w.words, a.query)';
  -- the ranked text of a row, unpacked once instead of for each word, and the factor for its length
  read constant text := case when own_score is null then 'setweight(t.text_search, ''D'') as words, 1 - $1 + $1 * coalesce(lexemes_held(t.text_search) / nullif($2, 0), 1) as length'
    else 'ts_delete(t.text_search, '''') as words, 1 as length' end;
  nearly_score constant text := coalesce(own_score, 'cardinality(u.positions) / w.length');
  score constant text := coalesce(own_score, 'times_held(w.words, a.query) / w.length');
begin
  return query execute format('
    with asked as materialized (
      select a.word, a.rows, quote_literal(a.word)::tsquery as query from unnest($3, $4) a (word, rows)
    ), sampled as (
      select a.word, (%3$s)::float8 as score
      from %1$s t tablesample system (%5$s) repeatable (1), lateral (select %2$s offset 0) w, unnest(w.words) u, asked a
      where a.word = u.lexeme offset 0
    ), least as materialized (
      select a.word, a.rows, a.query, coalesce((array_agg(s.score order by s.score desc))[ceil(1.2 * a.rows * $5 + 8)], 0) * %6$s as score
      from asked a left join sampled s using (word) group by 1, 2, 3
    ), held as (
      select a.word, a.rows, t.id, %4$s as score
      from %1$s t, lateral (select %2$s offset 0) w, unnest(w.words) u, least a
      where a.word = u.lexeme and %3$s >= a.score
    ), ranked as (
      select h.word, h.rows, h.id, row_number() over (partition by h.word order by h.score desc, h.id) as place from held h
    )
    select r.word, array_agg(r.id order by r.place) from ranked r where r.place <= r.rows group by 1',
    p_table, read, nearly_score, score, 100 * share, nearly)
    using b, p_mean_length, p_words, p_limits, share;
end
$_$;


--
-- Name: champion_rows(regclass, text, integer, integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.champion_rows(p_table regclass, p_word text, p_limit integer, p_rows integer) RETURNS text[]
    LANGUAGE plpgsql STABLE
    AS $$
declare
  max_changed constant int := 500;
  best text[];
  changed text[];
begin
  select c.best_rows[:coalesce(p_limit, cardinality(c.best_rows))] into best
  from lexeme_counts c where c.lexeme = p_word and c.of_table = p_table::text and c.rows > p_rows;
  if best is not null then
    changed := array(select c.id from text_changes c where c.of_table = p_table::text limit max_changed + 1);
  end if;
  return case when cardinality(changed) <= max_changed then changed || best end;
end
$$;


--
-- Name: change_facet_values(text, text[], text[], text[], integer[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.change_facet_values(p_table text, p_facets text[], p_scopes text[], p_values text[], p_changes integer[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  if p_facets is null then
    return;
  end if;
  with given as materialized (
    select g.facet, g.scope, g.value, g.change, g.number, h.place, h.row_count + g.change as row_count
    from unnest(p_facets, p_scopes, p_values, p_changes) with ordinality g (facet, scope, value, change, number)
    left join lateral (
      select f.ctid as place, f.row_count from facet_values f
      where f.table_name = p_table and f.facet = g.facet and f.value = g.value and f.scope = g.scope
        and current_setting('transaction_isolation') = 'read committed'
      limit 1 for update skip locked
    ) h on true
  ), gone as (
    delete from facet_values f using given g where f.ctid = g.place and g.row_count = 0 returning g.number, f.stems
  ), changed as (
    update facet_values f set row_count = g.row_count from given g where f.ctid = g.place and g.row_count <> 0 returning g.number
  ), added as (
    insert into facet_values (table_name, facet, scope, value, row_count)
    select p_table, g.facet, g.scope, g.value, g.change from given g
    where (g.place is null or g.number not in (select number from gone union all select number from changed))
      and folded_words(g.value) is not null
    returning stems
  )
  select array_agg(w.stem), array_agg(w.change) into p_values, p_changes
  from (
    select s.stem, sum(s.change)::int as change
    from (select unnest(stems), 1 from added union all select unnest(stems), -1 from gone) s (stem, change)
    group by s.stem having sum(s.change) <> 0
  ) w;
  perform change_facet_words(p_table, p_values, p_changes);
end
$$;


--
-- Name: change_facet_words(text, text[], integer[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.change_facet_words(p_table text, p_stems text[], p_changes integer[]) RETURNS void
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  if p_stems is null then
    return;
  end if;
  with given as materialized (
    select g.stem, g.change, g.number, h.place, h.value_count + g.change as value_count
    from unnest(p_stems, p_changes) with ordinality g (stem, change, number)
    left join lateral (
      select w.ctid as place, w.value_count from facet_words w
      where w.stem = g.stem and w.table_name = p_table and current_setting('transaction_isolation') = 'read committed'
      limit 1 for update skip locked
    ) h on true
  ), gone as (
    delete from facet_words w using given g where w.ctid = g.place and g.value_count = 0 returning g.number
  ), changed as (
    update facet_words w set value_count = g.value_count from given g where w.ctid = g.place and g.value_count <> 0 returning g.number
  )
  insert into facet_words (table_name, stem, value_count)
  select p_table, g.stem, g.change from given g
  where g.place is null or g.number not in (select number from gone union all select number from changed);
end
$$;


--
-- Name: check_rows(bigint, bigint); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.check_rows(p_max bigint, p_more bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  added bigint;
  total bigint;
begin
  select p_more + coalesce(sum(pg_stat_get_xact_tuples_inserted(t) - pg_stat_get_xact_tuples_deleted(t)), 0) into added
  from rows_counted() t;
  if p_max = 0 or added <= 0 then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('rows ' || current_schema(), 0));
  total := p_more + rows_held();
  if total > p_max then
    raise exception 'This tenant may hold % rows and would hold %: delete rows, or ask the operator for more (quarry tenant quota).',
      to_char(p_max, 'FM999,999,999,999,999'), to_char(total, 'FM999,999,999,999,999') using errcode = 'QT001';
  end if;
end $$;


--
-- Name: experience_card_children; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.experience_card_children (
    id text NOT NULL,
    card_id text NOT NULL,
    child_type text NOT NULL,
    title text NOT NULL,
    headline text,
    summary text,
    context text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    search_phrases text[] DEFAULT '{}'::text[] NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[title, headline, summary, context, quarry.joined_names(tags), quarry.joined_names(search_phrases)]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.searchable_text(VARIADIC ARRAY[title, headline, summary, context, quarry.joined_names(tags), quarry.joined_names(search_phrases)]))) STORED NOT NULL,
    CONSTRAINT experience_card_children_child_type_check CHECK ((child_type = ANY (ARRAY['responsibility'::text, 'achievement'::text, 'project'::text, 'skill'::text, 'tool'::text, 'metric'::text, 'collaboration'::text, 'learning'::text])))
);


--
-- Name: child_text(quarry.experience_card_children); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.child_text(k quarry.experience_card_children) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN quarry.searchable_text(VARIADIC ARRAY[(k).title, (k).headline, (k).summary, (k).context, quarry.joined_names((k).tags), quarry.joined_names((k).search_phrases)]);


--
-- Name: companies_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.companies_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from companies t, lateral (select distinct a.* from (
        select 'name', t.company_name
        union all select 'former_name', unnest(t.former_names)
        union all select 'domain', t.domain
        union all select 'sector', unnest(t.sectors)
        union all select 'category', unnest(t.categories)
        union all select 'business_model', unnest(t.business_models)
        union all select 'niche', unnest(t.niches)
        union all select 'status', t.status
        union all select 'city', unnest(place_parts(t.hq_city))
        union all select 'country', unnest(place_parts(t.hq_country))
        union all select 'funding_stage', t.funding_stage
        union all select 'founder', unnest(t.founders)
        union all select 'acquirer', t.acquirer
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: companies_word_score(tsvector, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.companies_word_score(p_text tsvector, p_word tsquery) RETURNS real
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ts_rank(p_text, p_word);


--
-- Name: company_condition(text[], text[], text[], text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.company_condition(p_statuses text[], p_include_ids text[], p_exclude_ids text[], p_filter text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN NULLIF(concat_ws(' and '::text, (('t.status = any('::text || quote_literal(p_statuses)) || ')'::text), (('t.id = any('::text || quote_literal(p_include_ids)) || ')'::text), (('not t.id = any('::text || quote_literal(NULLIF(p_exclude_ids, '{}'::text[]))) || ')'::text), (('('::text || p_filter) || ')'::text)), ''::text);


--
-- Name: contact_unlocks; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.contact_unlocks (
    user_id text NOT NULL,
    person_id text NOT NULL,
    search_id uuid NOT NULL,
    unlocked_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: people_search_results; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.people_search_results (
    search_id uuid NOT NULL,
    person_id text NOT NULL,
    rank smallint NOT NULL,
    score double precision NOT NULL,
    extra jsonb NOT NULL
);


--
-- Name: people_searches; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.people_searches (
    id uuid NOT NULL,
    user_id text NOT NULL,
    query_text text NOT NULL,
    parsed_constraints jsonb NOT NULL,
    filters jsonb NOT NULL,
    fallback_tier smallint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT people_searches_fallback_tier_check CHECK (((fallback_tier >= 0) AND (fallback_tier <= 3)))
);


--
-- Name: contact_of_person(text, uuid, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.contact_of_person(p_user_id text, p_search_id uuid, p_person_id text) RETURNS TABLE(email text, phone text, links text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    BEGIN ATOMIC
 SELECT p.email,
     p.phone,
     p.links
    FROM (((quarry.people_searches s
      JOIN quarry.people_search_results r ON ((r.search_id = s.id)))
      JOIN quarry.contact_unlocks u ON (((u.user_id = s.user_id) AND (u.person_id = r.person_id))))
      JOIN quarry.people p ON ((p.id = r.person_id)))
   WHERE ((s.id = contact_of_person.p_search_id) AND (s.user_id = contact_of_person.p_user_id) AND (s.expires_at > now()) AND (r.person_id = contact_of_person.p_person_id) AND (p.open_to_work OR p.open_to_contact));
END;


--
-- Name: count_candidates(regclass, quarry.weighed_query, text, integer, text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.count_candidates(p_table regclass, p_query quarry.weighed_query, p_filter text, p_limit integer, p_found text[], p_fitting text[] DEFAULT NULL::text[], OUT rows integer, OUT is_capped boolean) RETURNS record
    LANGUAGE plpgsql STABLE
    SET work_mem TO '32MB'
    SET enable_seqscan TO 'on'
    AS $_$
declare
  condition constant text := case
    -- not `any`, which the planner would estimate id by id
    when cardinality(p_fitting) > 1000 then 'and t.id in (select unnest($4)) is true'
    when p_fitting is not null then 'and t.id = any($4)' else coalesce('and (' || p_filter || ')', '') end;
  required constant tsquery := coalesce((p_query).required, '');
  holds_phrase constant boolean := required::text like '%<%';
  indexed constant tsquery := case when holds_phrase then bounded_index_query(p_table, required, 'infinity') else required end;
  common constant tsquery[] := array(
    select quote_literal(c.lexeme)::tsquery from lexeme_counts c
    where c.of_table = p_table::text and c.lexeme = any((p_query).words) and c.rows > p_limit order by c.rows desc limit 1);
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w), ' | ')::tsquery from unnest((p_query).words) w), '');
  needs_words constant boolean := required::text not like '%|%' and numnode(index_query(required)) > 0;
  words tsquery;
  others int;
begin
  foreach words in array case when needs_words then array[indexed] else common || any_word end loop
    -- the planner underestimates the cost of searching texts row by row, except for a word found early; for this call only: the
    -- function's own setting is restored after it
    perform set_config('enable_seqscan', (not needs_words and words <> any_word)::text, true);
    -- one query for both: the index applies the exclusions
    execute format('
      select count(*) filter (where t.is_found), count(*) > $2
      from (select %s as is_found from %s t where t.text_search @@ $1 %s limit $2 + 1) t',
      case when holds_phrase or needs_words then 't.text_search @@ $3' else 'true' end, p_table, condition)
      into rows, is_capped using case when numnode(indexed) > 0 and not needs_words then words && indexed else words end, p_limit,
        case when needs_words then any_word && required else required end, p_fitting;
    if is_capped then
      rows := least(rows, p_limit);
      return;
    end if;
  end loop;
  execute format('select count(*) from %s t where t.id = any($1) and not t.text_search @@ $2 %s', p_table, condition)
    into others using p_found, any_word, null::text, p_fitting;
  is_capped := rows + others > p_limit;
  rows := least(rows + others, p_limit);
end
$_$;


--
-- Name: count_experience(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.count_experience(p_people text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  -- in a fixed order, so that two writers cannot deadlock
  perform from people p where p.id = any(p_people) order by p.id for no key update;
  update people p set experience_days = w.experience_days, experience_since = w.experience_since
  from experience_of(p_people) w
  where p.id = w.id and (p.experience_days, p.experience_since) is distinct from (w.experience_days, w.experience_since);
end
$$;


--
-- Name: count_lexemes(regclass, double precision); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.count_lexemes(p_table regclass, p_share double precision DEFAULT 0) RETURNS integer
    LANGUAGE plpgsql
    SET work_mem TO '64MB'
    AS $_$
declare
  longest constant int := 200;  -- characters; longer lexemes are not words
  least_common constant int := 1000;
  max_common constant int := 5000;
  least_best constant int := 200;
  max_best constant int := 1000;
  max_changed constant int := 500;
  counted int;
begin
  perform pg_advisory_xact_lock(p_table::oid::bigint);  -- concurrent counts take turns
  if not exists (select from pg_attribute a where a.attrelid = p_table and a.attname = 'text_search' and not a.attisdropped)
    or exists (
      select from text_totals t join pg_class c on c.oid = p_table
      where t.of_table = p_table::text and abs(c.reltuples - t.rows) < p_share * t.rows)
    and (select count(*) from (select from text_changes c where c.of_table = p_table::text limit max_changed + 1) c) <= max_changed then
    return null;
  end if;
  -- before the rows are read, so that concurrent writes stay recorded
  delete from text_changes where of_table = p_table::text;
  delete from lexeme_counts where of_table = p_table::text;
  delete from text_totals where of_table = p_table::text;
  execute format('
    with stats as materialized (
      select s.word, s.ndoc, s.nentry from ts_stat(%L) s
    ), totals as (
      insert into text_totals (of_table, rows, lexemes)
      select $1, (select count(*) from %s), coalesce(sum(s.nentry), 0) from stats s
    )
    insert into lexeme_counts (lexeme, of_table, rows)
    select s.word, $1, s.ndoc from stats s where s.ndoc > 1 and length(s.word) <= $2', format('select text_search from %s', p_table), p_table)
    using p_table::text, longest;
  get diagnostics counted = row_count;
  if exists (select from pg_trigger where tgname = 'texts_noted_insert' and tgrelid = p_table) then
    -- materialized: without statistics for these counts, the table would be read once for each of them
    with common as (
      select array_agg(l.lexeme) as words, array_agg(greatest(least_best, least(max_best, l.rows / 10))) as limits
      from (
        select l.lexeme, l.rows
        from lexeme_counts l, greatest(least_best, least_common * least(1, rows_per_long_row(p_table))) many
        where l.of_table = p_table::text and l.rows > many
        order by l.rows desc, l.lexeme limit max_common
      ) l
    ), best as materialized (
      select h.word, h.ids
      from text_totals t, common, champion_lists(p_table, common.words, common.limits, t.rows, t.lexemes / nullif(t.rows, 0)::float8) h
      where t.of_table = p_table::text
    )
    update lexeme_counts c set best_rows = b.ids from best b where c.of_table = p_table::text and c.lexeme = b.word;
  end if;
  return counted;
end
$_$;


--
-- Name: count_matches(regclass, text, integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.count_matches(p_table regclass, p_condition text, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $_$
declare
  counted bigint;
begin
  execute format('select count(*) from (select from %s t where %s limit $1 + 1) t', p_table, p_condition) into counted using p_limit;
  return counted;
end
$_$;


--
-- Name: count_people(quarry.card_filters, quarry.card_filters[], text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.count_people(p_filters quarry.card_filters, p_wider quarry.card_filters[], p_excluded_people text[], p_among text[]) RETURNS bigint[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'quarry', 'public', 'pg_temp'
    SET random_page_cost TO '1.1'
    AS $_$
declare
  left_out constant text := case when p_excluded_people <> '{}' then ' and c.person_id not in (select unnest($1))' else '' end
    || case when p_among is not null then ' and c.person_id in (select unnest($2))' else '' end;
  cards constant text := 'experience_cards c left join people p on p.id = c.person_id';
  people constant text :=
    'select count(*) from (select from ' || cards || ' where card_matches(c, p, %L)' || left_out || ' group by c.person_id) person';
  apart constant text := (
    select format('select array[%s] from (' || people || ') found (people)',
      string_agg(format('(' || people || ') - found.people', p_wider[w.number]), ', ' order by w.number), p_filters)
    from generate_subscripts(p_wider, 1) w (number));
  together constant text := (
    select format('select array[%s] from (select bool_or(card_matches(c, p, %L)) as found, %s from ' || cards
        || ' where (%s)' || left_out || ' group by c.person_id) person where person.found is not true',
      string_agg(format('count(*) filter (where person.found_by_%s)', w.number), ', ' order by w.number),
      p_filters,
      string_agg(format('bool_or(card_matches(c, p, %L)) as found_by_%s', p_wider[w.number], w.number), ', ' order by w.number),
      string_agg(format('card_matches(c, p, %L)', p_wider[w.number]), ' or ' order by w.number))
    from generate_subscripts(p_wider, 1) w (number));
  apart_plan json;
  together_plan json;
  additional bigint[];
begin
  execute 'explain (format json) ' || apart into apart_plan using p_excluded_people, p_among;
  execute 'explain (format json) ' || together into together_plan using p_excluded_people, p_among;
  execute case when (apart_plan -> 0 -> 'Plan' ->> 'Total Cost')::float8 <= (together_plan -> 0 -> 'Plan' ->> 'Total Cost')::float8
    then apart else together end into additional using p_excluded_people, p_among;
  return additional;
end
$_$;


--
-- Name: count_written_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.count_written_values() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $_$
declare
  searched constant text := tg_argv[0];
  columns constant text := tg_argv[1];
  written constant text := quote_ident(tg_table_name);
  -- the rows of the statement, after and before it; most updates change none of the columns
  new_rows constant text := case tg_op
    when 'INSERT' then format('select %s from new_rows', columns)
    when 'UPDATE' then format('select %1$s from new_rows except all select %1$s from old_rows', columns)
  end;
  old_rows constant text := case
    when tg_op = 'DELETE' and tg_level = 'ROW' then 'select ($1).*'
    when tg_op = 'DELETE' then format('select %s from old_rows', columns)
    when tg_op = 'UPDATE' then format('select %1$s from old_rows except all select %1$s from new_rows', columns)
  end;
  owners text;
  owned text;
  after text;
  before text;
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values(searched);
    return null;
  elsif tg_table_name = searched then
    after := written || ' as (' || new_rows || ')';
    before := written || ' as (' || old_rows || ')';
  elsif tg_nargs = 3 then
    owners := format(', %1$I as (select t.* from %1$I t where exists (select from %2$s r where %3$s))', searched, written, tg_argv[2]);
    after := written || ' as (' || new_rows || ')' || owners;
    before := written || ' as (' || old_rows || ')' || owners;
  else  -- with all rows of the same owners
    owners := concat_ws(' union ', 'select w.' || tg_argv[3] || ' from (' || new_rows || ') w', 'select w.' || tg_argv[3] || ' from (' || old_rows || ') w');
    owned := format('select %s from %s b where b.%I in (%s)', columns, written, tg_argv[3], owners);
    owners := format(', %1$I as (select t.* from %1$I t where t.%2$I in (%3$s))', searched, tg_argv[2], owners);
    after := written || ' as (' || owned || ')' || owners;
    before := written || concat(' as (', owned, ' and not exists (select from (' || new_rows || ') w where w.id = b.id)',
      ' union all (' || old_rows || ')', ')') || owners;
  end if;
  -- $1 is the row that is deleted, in a trigger for each
  execute (
    select format('select change_facet_values(%L, array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change)) from (
        select w.facet, w.scope, w.value, sum(w.change)::int from (%s) w (facet, scope, value, change)
        group by w.facet, w.scope, w.value having sum(w.change) <> 0
      ) c (facet, scope, value, change)',
      searched, concat_ws(' union all ', '(with ' || after || p.prosrc || ')',
        'select b.facet, b.scope, b.value, -b.change from (with ' || before || p.prosrc || ') b (facet, scope, value, change)'))
    from pg_proc p where p.oid = (quote_ident(searched || '_values') || '()')::regprocedure)
  using old;
  return old;
end
$_$;


--
-- Name: day_of_text(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.day_of_text(text text) RETURNS date
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (text ~ '^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(\D|$)'::text) THEN ((make_date(("left"(text, 4))::integer, (substr(text, 6, 2))::integer, 1) + (substr(text, 9, 2))::integer) - 1) ELSE NULL::date END;


--
-- Name: describe_onto_entities(text, text[], text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.describe_onto_entities(p_actor_id text, p_types text[], p_ids text[], p_words text[]) RETURNS TABLE(place bigint, type text, id text, project_id text, project_name text, title text, snippet text)
    LANGUAGE plpgsql
    SET role TO 'quarry_ontology_reader'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
#variable_conflict use_column
declare
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w.word), ' | ') from unnest(p_words[:16]) w (word)), '')::tsquery;
  -- the longest words are the most specific; a stem may end in other letters than the word: batteri, battery
  beginnings constant text[] := array(
    select '\m' || regexp_replace(case when length(w.word) > 4 then rtrim(w.word, 'ie') else w.word end, '(\W)', '\\\1', 'g')
    from unnest(p_words) w (word) order by length(w.word) desc, w.word limit 8);
  any_beginning constant text := array_to_string(beginnings, '|');
  options constant text := 'HighlightAll=true';
  max_short constant int := 2000;  -- characters; a longer text is a document
begin
  perform set_config('quarry.actor', p_actor_id, true);
  return query
    select k.place, e.type, e.id, e.project_id, p.name, e.title,
      case when strpos(h.headline, U&'\E000') > 0 or numnode(any_word) = 0 and t.passage <> '' then h.headline
        else marked_words('english', joined_text(e.title, nullif(t.passage, '')), any_word, options) end
    from unnest(p_types, p_ids) with ordinality k (type, id, place)
    join onto_search_entries e on e.type = k.type and e.id = k.id
    left join onto_projects p on p.id = e.project_id,
      lateral (
        select coalesce(string_agg(l.line, E'\n' order by l.place), '') as prose
        from string_to_table(e.readable_text, case when length(e.readable_text) < max_short then E'\n' else '' end) with ordinality l (line, place)
        where l.line ~ '[.!?:]$|\w\W+\w+\W+\w+\W+\w' or any_beginning <> '' and l.line ~* any_beginning
      ) s,
      lateral (select best_passage(s.prose, beginnings) as passage offset 0) t,
      lateral (select marked_words('english', t.passage, any_word, options) as headline offset 0) h;
end
$_$;


--
-- Name: describe_people(text[], text[], text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.describe_people(p_people text[], p_cards text[], p_children text[], p_cards_max integer) RETURNS TABLE(id text, name text, headline text, bio text, open_to_work boolean, open_to_contact boolean, work_preferred_locations text[], work_preferred_salary_min double precision, cards jsonb)
    LANGUAGE sql STABLE
    AS $$
  select p.id, p.name, p.headline, p.bio, p.open_to_work, p.open_to_contact, p.work_preferred_locations, p.work_preferred_salary_min,
    (select coalesce(jsonb_agg(s.family order by s.place), '[]')
     from (
       select card_family(c, p_children) as family,
         rank() over (order by c.id = any(p_cards) desc) as choice,
         row_number() over (order by c.id = any(p_cards) desc, c.end_date desc nulls first, c.start_date desc nulls last, c.id) as place
       from experience_cards c
       where c.person_id = p.id and c.visible
     ) s
     where s.choice = 1 and s.place <= p_cards_max)
  from people p
  where p.id = any(p_people)
$$;


--
-- Name: document_sections_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.document_sections_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from document_sections t, lateral (select distinct a.* from (
        select 'document', title_runs(t.document_title)
        union all select 'document_type', t.document_type
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from document_sections t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from document_sections t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: english_words_of_json(jsonb); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.english_words_of_json(p_json jsonb) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN quarry.has_paired_letters((p_json)::text) THEN (jsonb_to_tsvector('english'::regconfig, (quarry.paired_letters((p_json)::text))::jsonb, '["string"]'::jsonb) || quarry.single_letters((p_json)::text)) ELSE jsonb_to_tsvector('english'::regconfig, p_json, '["string"]'::jsonb) END;


--
-- Name: excluded_people(quarry.card_filters, quarry.card_filters, boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.excluded_people(f quarry.card_filters, p_within quarry.card_filters, p_profiles boolean) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'quarry', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
  max_expected constant float8 := 8000;
  keywords constant tsquery := any_phrase(f.excluded_keywords);
  said constant tsquery := said_phrases(f.excluded_keywords);
  phrases constant tsquery := said_phrases(array(select k from unnest(f.excluded_keywords) k where k like '% %'));
  named constant tsquery := any_phrase(case when p_profiles then all_excluded(f) end);
  named_said constant tsquery := said_phrases(all_excluded(f));
  excluded_places constant tsquery := any_place(f.excluded_places);
  plan json;
begin
  execute 'explain (format json)'
    ' select from experience_cards c where card_rules_out(c, $1, $6, $2, $3, $4)'
    ' union all select from experience_card_children k where k.text_search @@ $2'
    ' union all select from people p where p.text_search @@ $5'
    into plan using f, keywords, said, excluded_places, named, p_within;
  if (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8 > max_expected then
    return null;
  end if;
  return array(
    select c.person_id from experience_cards c where card_rules_out(c, f, p_within, keywords, said, excluded_places)
    union
    select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id
    where c.visible and k.text_search @@ keywords and says(child_text(k), said) and card_matches(c, null::people, p_within)
    union
    select p.id from people p where profile_rules_out(p, named, named_said, phrases));
end
$_$;


--
-- Name: experience_of(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.experience_of(p_people text[]) RETURNS TABLE(id text, experience_days integer, experience_since date)
    LANGUAGE sql STABLE
    AS $$
  select h.id, case when h.since is null then h.ended else coalesce(h.ended, 0) end::int, h.since
  from (
    select u.id, sum(upper(s.span) - lower(s.span)) filter (where not upper_inf(s.span)) as ended,
      min(lower(s.span)) filter (where upper_inf(s.span)) as since
    from unnest(p_people) u (id)
    left join lateral (
      select unnest(range_agg(daterange(c.start_date, c.end_date, '[]'))) as span
      from experience_cards c
      where c.person_id = u.id and c.visible and c.intent_primary in ('work', 'business', 'research', 'teaching')
        and (c.start_date <= c.end_date or (c.end_date is null and c.start_date is not null and c.is_current is not false))
    ) s on true
    group by u.id
  ) h
$$;


--
-- Name: favors_seq_scan(regclass, text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.favors_seq_scan(p_table regclass, p_words text[], p_rows integer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  -- reading 6 entries takes as long as reading a row
  select coalesce(
    count(*) = cardinality(p_words) and 6::float8 * p_rows < sum(c.rows) * exp(greatest(-100, sum(ln(c.rows / greatest(1, t.rows)::float8)))), false)
  from lexeme_counts c join text_totals t using (of_table)
  where c.of_table = p_table::text and c.lexeme = any(p_words)
$$;


--
-- Name: find_people(public.halfvec, text, text[], quarry.card_filters, quarry.card_filters, text[], quarry.card_filters, boolean, text[], integer, integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.find_people(p_embedding public.halfvec, p_query text, p_should_terms text[], p_filters quarry.card_filters, p_asked quarry.card_filters, p_excluded_people text[], p_within quarry.card_filters, p_profiles boolean, p_among text[], p_overfetch integer, p_top_k integer) RETURNS TABLE(person_id text, card_id text, child_id text, similarity double precision, time_overlaps boolean, time_covered boolean, location_matches boolean, text_score double precision, should_hits integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'quarry', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
  max_words constant int := 8;
  max_should_terms constant int := 63;  -- the bits of a bigint
  query constant text := searchable_text(p_query);
  asks_for_something constant boolean := p_among is not null or
    jsonb_strip_nulls(to_jsonb(p_filters)) - '{excluded_companies,excluded_keywords}'::text[] <> '{}';
  weighed constant weighed_query := weigh_query('{experience_cards,experience_card_children}', query, p_max_words => max_words);
  any_word constant tsquery := (select string_agg(quote_literal(w.word), ' | ')::tsquery from unnest((weighed).words) w (word));
  excluded_keywords constant tsquery := any_phrase(p_asked.excluded_keywords);
  excluded_places constant tsquery := any_place(p_asked.excluded_places);
  -- from more places if each candidate is tested
  places constant int := case when p_excluded_people is null then 5 else 1 end * p_overfetch;
  candidates constant text[] := array(
    select c.person_id
    from (
      select f.person_id from (
        select * from nearest_people(p_embedding, p_filters, p_excluded_people, p_among, places)
        union all
        select * from people_by_words(weighed, p_filters, p_excluded_people, p_among, places)
      ) f group by 1 order by min(f.place), 1 offset 0
    ) c
    where p_excluded_people is not null or not is_ruled_out(c.person_id, p_asked, p_within, p_profiles, excluded_keywords, excluded_places)
    limit 4 * p_overfetch);
begin
  if candidates = '{}' then
    return;
  end if;

  return query
  with terms as materialized (
    select quote_literal(u.word)::tsquery as query, u.weight / sum(u.weight) over () as share, 0::bigint as should
    from unnest((weighed).words, (weighed).weights) u (word, weight)
    union all
    select any_phrase(array[s.term]), 0, 1::bigint << (s.number - 1)::int
    from unnest(p_should_terms[:max_should_terms]) with ordinality s (term, number)
  ), cards as materialized (
    select c.* from cards_of_people(candidates, p_filters, p_asked) c
  ), texts as (
    -- ts_delete of nothing unpacks a text once, instead of for each word
    select c.person_id, c.card_id, null as child_id, c.time_overlaps, c.time_covered, c.location_matches, c.text_search,
      -- + 0: without statistics the planner would use the vector index for the minimum, which only finds the nearest few
      (select min((e.embedding <=> p_embedding) + 0) from experience_card_embeddings e where e.record_id = c.card_id) as distance
    from cards c
    union all
    select c.person_id, c.card_id, k.id, c.time_overlaps, c.time_covered, c.location_matches, ts_delete(k.text_search, ''::text),
      (select min((e.embedding <=> p_embedding) + 0) from experience_card_child_embeddings e where e.record_id = k.id)
    from cards c join experience_card_children k on k.card_id = c.card_id
    offset 0
  ), matched as (
    select t.person_id, t.card_id, t.child_id, t.time_overlaps, t.time_covered, t.location_matches, coalesce(h.share, 0) as share, h.shoulds,
      case when h.share > 0 then ts_rank_cd(t.text_search, any_word)::float8 else 0 end as rank,
      -- a zero vector has no distance to anything
      coalesce(nullif(t.distance, 'NaN'),
        case when h.share > 0 or h.shoulds > 0 or asks_for_something then 1 - coalesce(h.share, 0) / 2 end) as away
    from texts t
    cross join lateral (
      select sum(term.share) as share, bit_or(term.should) as shoulds from terms term where t.text_search @@ term.query
    ) h
    offset 0
  ), ranked as (
    select m.*, row_number() over (partition by m.person_id, m.child_id is null order by m.away, m.card_id, m.child_id) as place,
      max(m.rank) over (partition by m.person_id) as text_score,
      bit_or(m.shoulds) over (partition by m.person_id) as shoulds_held
    from matched m
  )
  select h.person_id, h.card_id, h.child_id, 1 / (1 + greatest(h.away, 0)), h.time_overlaps, h.time_covered, h.location_matches,
    h.text_score, coalesce(bit_count(h.shoulds_held::bit(64)), 0)::int
  from ranked h
  where h.place <= p_top_k and h.away is not null
  order by h.person_id, h.away, h.card_id, h.child_id;
end
$$;


--
-- Name: folded_text(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.folded_text(text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN replace(regexp_replace(NORMALIZE(lower(text), NFKD), '[\u0300-\u036f]+'::text, ''::text, 'g'::text), '’'::text, ''''::text);


--
-- Name: folded_names(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.folded_names(names text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT COALESCE(array_agg(quarry.folded_text(btrim(n.name))), '{}'::text[]) AS "coalesce" FROM unnest(folded_names.names) n(name));


--
-- Name: folded_value(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.folded_value(p_value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select nullif(btrim(case when octet_length(p_value) = length(p_value) then lower(p_value) else folded_text(p_value) end,
    E' \t\n\r\f\v'), '')
$$;


--
-- Name: folded_words(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.folded_words(text text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN string_to_array(NULLIF(btrim(regexp_replace(regexp_replace(regexp_replace(replace(quarry.folded_text(text), '&'::text, ' and '::text), '''s(?![[:alnum:]])'::text, ''::text, 'g'::text), '(?<=[[:alnum:]])[''.](?=[[:alnum:]])'::text, ''::text, 'g'::text), '[^[:alnum:]+#]+|(?<![[:alnum:]+])[+#]+|(?<!\+)\+(?!\+)'::text, ' '::text, 'g'::text)), ''::text), ' '::text);


--
-- Name: forms_held(text[], text[], regconfig, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.forms_held(p_tables text[], p_forms text[], p_language regconfig, p_seen text[] DEFAULT '{}'::text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $_$
declare
  held text[] := '{}';
  here text[];
begin
  for place in 1 .. coalesce(cardinality(p_tables), 0) loop
    execute format('select array(select f.form from unnest($1) f (form), lateral (select string_agg(quote_literal(w.lexeme), '' & '')::tsquery as said'
      ' from unnest(said_words($2, f.form)) w) q where q.said is not null and not f.form = any($3)'
      ' and exists (select from %s t where t.text_search @@ q.said and (%s)))', p_tables[place]::regclass, coalesce(p_seen[place], 'true'))
      into here using p_forms, p_language, held;
    held := held || here;
  end loop;
  return held;
end
$_$;


--
-- Name: name_key(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.name_key(name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN "left"(COALESCE(NULLIF(regexp_replace(replace(replace(replace(replace(translate(NORMALIZE(lower(replace(name, '&'::text, ' and '::text)), NFKD), 'øłđðħıŧ'::text, 'olddhit'::text), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'þ'::text, 'th'::text), '[^[:alnum:]]+'::text, ''::text, 'g'::text), ''::text), lower(btrim(name))), 200);


--
-- Name: name_keys(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.name_keys(names text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT COALESCE(array_agg(DISTINCT quarry.name_key(n.name)), '{}'::text[]) AS "coalesce" FROM unnest(name_keys.names) n(name));


--
-- Name: taxonomy_tags(text[], text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.taxonomy_tags(sectors text[], categories text[], business_models text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT COALESCE(array_agg(DISTINCT "left"(t.tag, 200)), '{}'::text[]) AS "coalesce" FROM (SELECT ('sector:'::text || s.name) AS "?column?" FROM unnest(taxonomy_tags.sectors) s(name) UNION ALL SELECT ('category:'::text || c.name) FROM unnest(taxonomy_tags.categories) c(name) UNION ALL SELECT ('business_model:'::text || b.name) FROM unnest(taxonomy_tags.business_models) b(name)) t(tag) WHERE (t.tag IS NOT NULL));


--
-- Name: website_domain(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.website_domain(url text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN "left"("substring"(lower(btrim(url)), '^(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#@]*@)?(?:www\.)?([^/?#:@\s]+)'::text), 255);


--
-- Name: companies; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.companies (
    id text NOT NULL,
    status text DEFAULT 'startup'::text NOT NULL,
    company_name text NOT NULL,
    taxonomy_search tsvector GENERATED ALWAYS AS (array_to_tsvector(quarry.taxonomy_tags(sectors, categories, business_models))) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (quarry.name_key(company_name)) STORED NOT NULL,
    former_name_keys text[] GENERATED ALWAYS AS (quarry.name_keys(former_names)) STORED NOT NULL,
    domain text GENERATED ALWAYS AS (quarry.website_domain(website_url)) STORED,
    former_names text[] DEFAULT '{}'::text[] NOT NULL,
    tagline text,
    description text,
    product_description text,
    target_customer text,
    problem_solved text,
    differentiator text,
    niches text[] DEFAULT '{}'::text[] NOT NULL,
    sectors text[] DEFAULT '{}'::text[] NOT NULL,
    categories text[] DEFAULT '{}'::text[] NOT NULL,
    business_models text[] DEFAULT '{}'::text[] NOT NULL,
    website_url text,
    founded_year integer,
    hq_city text,
    hq_country text,
    employee_count integer,
    funding_stage text,
    total_funding_usd bigint,
    founders text[] DEFAULT '{}'::text[] NOT NULL,
    acquirer text,
    closed_year integer,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[tagline, description, product_description, problem_solved, target_customer, differentiator, quarry.joined_names(niches), quarry.joined_names(categories)]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (((((((setweight(quarry.english_words(company_name), 'A'::"char") || setweight(quarry.english_words(COALESCE(tagline, ''::text)), 'B'::"char")) || setweight(quarry.english_words(COALESCE(description, ''::text)), 'B'::"char")) || setweight(quarry.english_words(COALESCE(product_description, ''::text)), 'C'::"char")) || setweight(quarry.english_words(COALESCE(target_customer, ''::text)), 'C'::"char")) || setweight(quarry.english_words(COALESCE(problem_solved, ''::text)), 'D'::"char")) || setweight(quarry.english_words(COALESCE(differentiator, ''::text)), 'D'::"char"))) STORED NOT NULL,
    niches_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_names(niches))) STORED NOT NULL,
    CONSTRAINT companies_status_check CHECK ((status = ANY (ARRAY['startup'::text, 'acquired'::text, 'public'::text, 'closed'::text])))
);
ALTER TABLE ONLY quarry.companies ALTER COLUMN niches SET STORAGE MAIN;
ALTER TABLE ONLY quarry.companies ALTER COLUMN sectors SET STORAGE MAIN;
ALTER TABLE ONLY quarry.companies ALTER COLUMN categories SET STORAGE MAIN;
ALTER TABLE ONLY quarry.companies ALTER COLUMN business_models SET STORAGE MAIN;
ALTER TABLE ONLY quarry.companies ALTER COLUMN text_search SET STORAGE MAIN;
ALTER TABLE ONLY quarry.companies ALTER COLUMN niches_search SET STORAGE MAIN;


--
-- Name: get_companies_by_ids_v1(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.get_companies_by_ids_v1(p_ids text[]) RETURNS SETOF quarry.companies
    LANGUAGE sql STABLE
    AS $$
  select c.* from companies c where c.id = any(p_ids) order by array_position(p_ids, c.id)
$$;


--
-- Name: word_stem(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.word_stem(word text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE((ts_lexize('english_stem'::regdictionary, word))[1], word);


--
-- Name: word_stems(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.word_stems(words text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT array_agg(quarry.word_stem(w.word) ORDER BY w.place) AS array_agg FROM unnest(word_stems.words) WITH ORDINALITY w(word, place));


--
-- Name: has_any_phrase(text, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.has_any_phrase(text text, phrases text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT bool_or((strpos(((' '::text || array_to_string(t.stems, ' '::text)) || ' '::text), ((' '::text || array_to_string(p.stems, ' '::text)) || ' '::text)) > 0)) AS bool_or FROM (SELECT quarry.word_stems(quarry.folded_words(has_any_phrase.text)) AS stems) t, unnest(has_any_phrase.phrases) n(phrase), LATERAL (SELECT quarry.word_stems(quarry.folded_words(n.phrase)) AS stems) p);


--
-- Name: hold_people(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.hold_people(p_ids text[]) RETURNS SETOF text
    LANGUAGE sql SECURITY DEFINER
    BEGIN ATOMIC
 SELECT people.id
    FROM quarry.people
   WHERE (people.id = ANY (hold_people.p_ids))
   ORDER BY people.id
  FOR KEY SHARE OF people;
END;


--
-- Name: holds_any_text(text, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.holds_any_text(p_text text, p_texts text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (EXISTS (SELECT FROM unnest(holds_any_text.p_texts) t(text) WHERE (strpos(lower(holds_any_text.p_text), t.text) > 0)));


--
-- Name: holds_forgotten(jsonb, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.holds_forgotten(p_json jsonb, p_domain text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  -- usually nothing is forgotten, and then nothing is read
  select exists (select from forgotten f where f.forgotten_at > now() - interval '1 day') and exists (
    select from quoted_records(p_json) q
    join forgotten f on f.id_hash = id_hash(q.id) and f.forgotten_at > now() - interval '1 day'
    where q.kind = f.kind
      or (f.domain = p_domain) is not false
        and (q.kind is null or coalesce(f.domain, p_domain, '') not in ('records', 'ontology')))
$$;


--
-- Name: hybrid_candidates(regclass, regclass, quarry.weighed_query, public.halfvec, integer, text, integer, text, text[], boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.hybrid_candidates(p_table regclass, p_embeddings regclass, p_query quarry.weighed_query, p_embedding public.halfvec, p_limit integer, p_filter text DEFAULT NULL::text, p_rows integer DEFAULT 2000, p_embedding_type text DEFAULT NULL::text, p_fitting text[] DEFAULT NULL::text[], p_fits_many boolean DEFAULT false) RETURNS TABLE(id text, text_score double precision, coverage double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select id, w.text_score, w.coverage, v.similarity
  from text_candidates(p_table, p_query, p_limit, p_filter, p_rows, p_fitting, p_fits_many) w
  full join vector_candidates(
    p_table, p_embeddings, p_embedding, p_limit, p_filter, (p_query).required, p_embedding_type, p_fitting, p_fits_many) v using (id)
$$;


--
-- Name: id_hash(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.id_hash(id text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(sha256(convert_to(id, 'UTF8'::name)), 'hex'::text);


--
-- Name: index_query(tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.index_query(p_query tsquery) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select coalesce(case when q.words like '%|%' then q.words else (
    select string_agg(w.word, ' & ' order by w.place)
    from (select m.word[1] as word, min(m.place) as place
      from regexp_matches(q.words, $re$'(?:[^']|'')+'$re$, 'g') with ordinality m (word, place) group by 1) w
  ) end, '')::tsquery
  from (select nullif(regexp_replace(querytree(p_query), '<(-|\d+)>', '&', 'g'), 'T') as words) q
$_$;


--
-- Name: is_ruled_out(text, quarry.card_filters, quarry.card_filters, boolean, tsquery, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.is_ruled_out(p_person_id text, f quarry.card_filters, p_within quarry.card_filters, p_profiles boolean, p_keywords tsquery, p_places tsquery) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  said constant tsquery := said_phrases(f.excluded_keywords);
  named constant text[] := all_excluded(f);
  phrases constant text[] := array(select k from unnest(f.excluded_keywords) k where k like '% %');
begin
  return exists (
    select from experience_cards c
    where c.person_id = p_person_id and (
      card_rules_out(c, f, p_within, p_keywords, said, p_places)
      or c.visible and card_matches(c, null::people, p_within) and exists (
        select from experience_card_children k
        where k.card_id = c.id and k.text_search @@ p_keywords and says(child_text(k), said))))
    or p_profiles and exists (
      select from people p where p.id = p_person_id
        and profile_rules_out(p, any_phrase(named), said_phrases(named), said_phrases(phrases)));
end
$$;


--
-- Name: json_moment(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.json_moment(p_text text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
  select case
    when p_text ~ ('^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])'
        || '([Tt ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)? ?([Zz]|[-+](0\d|1[0-4])(:?[0-5]\d)?)?)?$')
    then case
      when substr(p_text, 9, 2)::int <= date_part('day', (substr(p_text, 1, 7) || '-01')::date + interval '1 month - 1 day')
      then replace(p_text, ',', '.')::timestamptz
    end
  end
$_$;


--
-- Name: json_number(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.json_number(p_text text) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case
    when p_text ~ '^-?[0-9]+([.][0-9]+)?$' and length(p_text) <= 60 then p_text::numeric
    when p_text ~ '^\s*[-+]?(\d{1,60}(\.\d{0,60})?|\.\d{1,60})([eE][-+]?\d{1,2})?\s*$' then p_text::numeric
  end
$_$;


--
-- Name: json_truth(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.json_truth(p_text text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case lower(btrim(p_text))
    when 'true' then true when 'yes' then true when 'y' then true when 't' then true when '1' then true
    when 'false' then false when 'no' then false when 'n' then false when 'f' then false when '0' then false
  end
$$;


--
-- Name: json_uuid(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.json_uuid(p_text text) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case when p_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_text::uuid end
$_$;


--
-- Name: json_whole_number(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.json_whole_number(p_text text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case when p_text ~ '^\s*-?\d{1,18}\s*$' then p_text::bigint end
$_$;


--
-- Name: json_without(jsonb, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.json_without(p_document jsonb, p_path text[]) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case jsonb_typeof(p_document #> p_path[:cardinality(p_path) - 1])
    when 'object' then p_document #- p_path
    else p_document
  end
$$;


--
-- Name: keep_experience(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.keep_experience() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $$
declare
  written text[];
begin
  if tg_op = 'TRUNCATE' then
    update people set experience_days = null, experience_since = null where experience_days is not null;
  elsif tg_op = 'INSERT' then
    written := array(select distinct person_id from new_rows where start_date is not null);
  elsif tg_op = 'DELETE' then
    written := array(select distinct person_id from old_rows where start_date is not null);
  else
    written := array(
      select distinct w.person_id from (
        (select * from (select id, person_id, visible, intent_primary, start_date, end_date, is_current from new_rows) n
         except select id, person_id, visible, intent_primary, start_date, end_date, is_current from old_rows)
        union all
        (select * from (select id, person_id, visible, intent_primary, start_date, end_date, is_current from old_rows) o
         except select id, person_id, visible, intent_primary, start_date, end_date, is_current from new_rows)
      ) w where w.start_date is not null);
  end if;
  if cardinality(written) > 0 then
    perform count_experience(written);
  end if;
  return null;
end
$$;


--
-- Name: keep_texts_noted(regclass); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.keep_texts_noted(p_table regclass) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


--
-- Name: keep_values_counted(text, text, text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.keep_values_counted(p_searched text, p_written text, p_operations text[], VARIADIC p_arguments text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  arguments constant text[] := p_searched || p_arguments;
  named text;
  operation text;
  is_by_row boolean;
  kept bytea;
begin
  foreach operation in array p_operations loop
    is_by_row := operation like '% each row';
    operation := split_part(operation, ' ', 1);
    named := format('%s_values_%s', p_searched, operation);
    select t.tgargs into kept from pg_trigger t where t.tgname = named and t.tgrelid = p_written::regclass;
    continue when kept = (
      select string_agg(convert_to(a.argument, 'UTF8') || '\x00', '' order by a.place) from unnest(arguments) with ordinality a (argument, place));
    if kept is not null then
      execute format('drop trigger %I on %I', named, p_written);
    end if;
    execute format('create trigger %I %s %s on %I %s for each %s execute function count_written_values(%s)',
      named, case when is_by_row then 'before' else 'after' end, operation, p_written,
      case when not is_by_row and operation <> 'truncate' then concat('referencing',
        case when operation <> 'insert' then ' old table as old_rows' end, case when operation <> 'delete' then ' new table as new_rows' end) end,
      case when is_by_row then 'row' else 'statement' end,
      (select string_agg(quote_literal(a.argument), ', ' order by a.place) from unnest(arguments) with ordinality a (argument, place)));
  end loop;
end
$$;


--
-- Name: key_statements_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.key_statements_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from key_statements t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
        union all select 'stance', t.stance
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from key_statements t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: lexemes_held(tsvector); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.lexemes_held(p_words tsvector) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE((((0.00000000000000000001)::real)::double precision / NULLIF(ts_rank(p_words, (((quote_literal(chr(1)) || ' & '::text) || quote_literal(chr(2))))::tsquery, 2), (0)::double precision)), (0)::double precision);


--
-- Name: look_up_values_v2(text[], text[], integer[], text[], text[], integer[], integer[], text[], integer[], text[], boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.look_up_values_v2(p_tables text[], p_words text[], p_forms_at integer[] DEFAULT '{}'::integer[], p_forms text[] DEFAULT '{}'::text[], p_phrases text[] DEFAULT '{}'::text[], p_phrases_first integer[] DEFAULT '{}'::integer[], p_phrases_last integer[] DEFAULT '{}'::integer[], p_phrases_facet text[] DEFAULT '{}'::text[], p_doubtful integer[] DEFAULT '{}'::integer[], p_owners text[] DEFAULT '{}'::text[], p_may_hide boolean DEFAULT false) RETURNS TABLE(match text, first integer, last integer, table_name text, facet text, value text, row_count integer, value_stems text[])
    LANGUAGE sql STABLE
    SET "pg_trgm.similarity_threshold" TO '0.3'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
  with words as materialized (
    select w.place::int as place, f.word, word_stem(f.word) as stem, ts_lexize('english_stem', f.word) = '{}' as is_stop_word
    from unnest(p_words[:300]) with ordinality w (word, place), translate(w.word, '.''', '') f (word)
  ), said as (
    select w.place, w.word, true as ends_a_run from words w
    union
    -- there are several for each word: what no value has a word of ends none of several words
    select f.place + 1, f.word, exists (
      select from facet_words c where c.stem = coalesce((ts_lexize('english_stem', f.word))[1], f.word) offset 0)
    from unnest(p_forms_at, p_forms) f (place, word) where f.place < 300
  ), before as materialized (
    select b.place, n.length, n.stems
    from (
      select w.place, lag(w.stem, 1) over o as one, lag(w.stem, 2) over o as two, lag(w.stem, 3) over o as three,
        lag(w.stem, 4) over o as four, lag(w.stem, 5) over o as five
      from words w window o as (order by w.place)
    ) b, lateral (values (1, ''), (2, one), (3, two || one), (4, three || two || one), (5, four || three || two || one),
      (6, five || four || three || two || one)) n (length, stems)
    where n.stems is not null
  ), runs as materialized (
    select distinct s.place - b.length as first, s.place as last,
      case when b.length = 1 and ts_lexize('english_stem', s.word) = '{}' then s.word end as stop_word, null as facet,
      coalesce((ts_lexize('english_stem', t.phrase))[1], t.phrase) as phrase  -- word_stem, which is called for each row
    from said s join before b on b.place = s.place and (s.ends_a_run or b.length = 1),
      lateral (select b.stems || s.word as phrase offset 0) t
    union
    select p.first, p.last, null, p.facet, phrase_key(folded_words(p.phrase))
    from unnest(p_phrases, p_phrases_first, p_phrases_last, p_phrases_facet) p (phrase, first, last, facet)
  ), known as materialized (
    select distinct f.phrase from facet_values f
    where f.phrase = any(array(select r.phrase from runs r)) and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
  ), frequency as materialized (
    select w.place, w.stem, w.is_stop_word, k.in_tables, k.in_all
    from (select * from words w where w.word <> '') w, lateral (
      select coalesce(sum(c.value_count) filter (where c.table_name = any(p_tables)), 0) as in_tables,
        coalesce(sum(c.value_count), 0) as in_all
      from facet_words c where c.stem = w.stem
    ) k
  )
  select 'words', 0, 0, null, null, null, null::int, array(select w.stem from words w order by w.place)
  union all
  select 'whole', r.first, r.last, v.table_name, v.facet, v.value, v.row_count, null::text[]
  from known k join runs r using (phrase), lateral (
    select f.* from facet_values f
    where f.phrase = r.phrase and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
      and (r.facet is null or f.facet = r.facet) and (r.stop_word is null or folded_words(f.value) = array[r.stop_word])
    limit 60
  ) v
  union all
  select 'part', k.place - 1, k.place, v.table_name, v.facet, v.value, v.row_count, v.stems
  from frequency k, lateral (
    select f.* from facet_values f
    where f.stems @> array[k.stem] and cardinality(f.stems) > 1 and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
    limit 40
  ) v
  where k.in_tables between 1 and 40 and k.in_all <= 400 and length(k.stem) > 1 and not k.is_stop_word
  union all
  select distinct 'near', k.place - 1, k.place, v.table_name, v.facet, v.value, v.row_count, array[n.stem]
  from (
    select f.*, length(f.stem) as length from frequency f
    where f.place - 1 = any(p_doubtful) and (f.in_tables = 0 or p_may_hide) and length(f.stem) <= 40
  ) k, lateral (
    -- by their spelling first: all words of a table would be compared
    (select n.stem
     from (
       select * from facet_words n
       where n.stem % k.stem
         and array[length(n.stem)] && array[k.length - 2, k.length - 1, k.length, k.length + 1, k.length + 2] offset 0
     ) n
     where n.table_name = any(p_tables) and n.stem <> k.stem
     order by similarity(n.stem, k.stem) desc limit 8)
    union all
    select n.stem
    from generate_series(1, length(k.stem) - 1) s (place), lateral (
      select n.stem from facet_words n
      where n.stem = overlay(k.stem placing reverse(substr(k.stem, s.place, 2)) from s.place for 2) and n.table_name = any(p_tables)
        and n.stem <> k.stem
      limit 1
    ) n
  ) n, lateral (
    (select f.* from facet_values f
     where f.phrase = n.stem and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
    union all
    (select f.* from facet_values f
     where f.stems @> array[n.stem] and cardinality(f.stems) > 1 and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
  ) v
  union all
  select distinct 'held', k.place - 1, k.place, v.table_name, v.facet, v.value, v.row_count, null::text[]
  from frequency k, lateral (
    (select f.* from facet_values f
     where f.phrase = k.stem and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
    union all
    (select f.* from facet_values f
     where f.stems @> array[k.stem] and cardinality(f.stems) > 1 and f.table_name = any(p_tables) and f.scope = p_owners[array_position(p_tables, f.table_name)]
     limit 10)
  ) v
  where p_may_hide and k.place - 1 = any(p_doubtful) and k.in_tables > 0
$$;


--
-- Name: marked_words(regconfig, text, tsquery, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.marked_words(p_language regconfig, p_text text, p_query tsquery, p_options text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
  select replace(case when p.marks is null then h.headline else
    replace(replace(regexp_replace(h.headline, '(?:' || p.marks || ')+', U&'\E000\\&\E001', 'gi'), U&'\E000\E000', U&'\E000'), U&'\E001\E001', U&'\E001')
    end, U&'\0001', '')
  from (
    select array_agg(case when l.letters is null then '\m' || x.word else x.word end) as patterns,
      string_agg(case
        when l.letters is null then format('(?<![a-z0-9])%1$s(?![a-z0-9])', x.word)
        when cardinality(l.letters) = 1 then l.letters[1]
        else format('%1$s(?=%2$s)|(?<=%1$s)%2$s', l.letters[1], l.letters[2]) end, '|') as marks
    from regexp_matches(case when has_paired_letters(p_text) then p_query::text end, $re$'((?:[^']|'')+)'$re$, 'g') m (quoted),
      lateral (select regexp_replace(replace(m.quoted[1], '''''', ''''), '([[:punct:]])', '\\\1', 'g') as word) x,
      lateral (select array_agg(r.letter) as letters from letters_of_run(case when has_paired_letters(x.word) then x.word end) r (letter)) l
  ) p,
  lateral (
    select case when not has_paired_letters(p_text) then p_options else 'HighlightAll=true' end as options,
      case when not has_paired_letters(p_text) or p_options like '%HighlightAll%' then p_text
        else best_passage(p_text, coalesce(p.patterns, '{}')) end as passage
  ) t,
  lateral (
    select ts_headline(p_language, replace(translate(t.passage, U&'\E000\E001\0001', ''), '<', U&'<\0001'), p_query,
      U&'StartSel=\E000, StopSel=\E001, ' || t.options) as headline
  ) h
$_$;


--
-- Name: matters_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.matters_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from matters t, lateral (select distinct a.* from (
        select 'title', title_runs(t.title)
        union all select 'matter_type', t.matter_type
        union all select 'status', t.status
        union all select 'sponsor', unnest(t.sponsors)
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from matters t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: may_hide_rows(regclass); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.may_hide_rows(p_relation regclass) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  with recursive relations as (
    select p_relation::oid as oid, a.oid as reader from pg_roles a where a.rolname = current_user
    union
    select d.refobjid, case when c.reloptions::text ~ '\msecurity_invoker=(true|on|yes|1)\M' then r.reader else c.relowner end
    from relations r join pg_class c on c.oid = r.oid and c.relkind = 'v'
    join pg_rewrite w on w.ev_class = r.oid join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
    where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.oid
  )
  select exists (
    select from relations r join pg_class c on c.oid = r.oid join pg_roles a on a.oid = r.reader
    where c.relrowsecurity and not a.rolsuper and not a.rolbypassrls
      and (c.relforcerowsecurity or not pg_has_role(r.reader, c.relowner, 'usage')))
$$;


--
-- Name: meetings_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.meetings_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from meetings t, lateral (select distinct a.* from (
        select 'body', t.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: motions_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.motions_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from motions t, lateral (select distinct a.* from (
        select 'result', t.outcome
        union all select 'tally', unnest(t.tally)
        union all select 'mover', t.mover
        union all select 'seconder', t.seconder
        union all select 'votes_for', unnest(t.votes_for)
        union all select 'votes_against', unnest(t.votes_against)
        union all select 'abstained', unnest(t.abstained)
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from motions t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from motions t join matters r on r.id = t.matter_id, lateral (select distinct a.* from (
        select 'matter', title_runs(r.title)
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: nearest_onto_entities(text, tsquery, tsquery, tsquery, text[], text, text, text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.nearest_onto_entities(p_actor_id text, p_asked tsquery, p_required tsquery, p_excluded tsquery, p_words text[], p_spelt text, p_project_id text, p_types text[], p_limit integer) RETURNS TABLE(type text, id text, score double precision, words text[])
    LANGUAGE plpgsql STABLE
    SET "pg_trgm.similarity_threshold" TO '0.3'
    SET "pg_trgm.word_similarity_threshold" TO '0.6'
    SET synchronize_seqscans TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
  max_candidates constant int := 2000;
  max_scored constant int := 200;
  short_query constant int := 3;  -- words
  max_words constant int := 8;  -- the longest, which are the most specific
  is_short constant boolean := cardinality(p_words) between 1 and short_query;
  spelling constant text := case when is_short then p_spelt end;
  wanted text[] := array(select w.word from unnest(p_words) w (word) order by length(w.word) desc, w.word limit max_words);
  required tsquery;
  some_words tsquery;
begin
  if is_short then
    wanted := wanted || onto_words_like(p_actor_id, p_words);
  end if;
  for required, some_words in
    select r.required, s.some_words
    from unnest(array[p_required, case when p_excluded::text <> p_required::text then p_excluded end]) with ordinality r (required, place), (
      -- two of the words: of two places one has a bit that the other lacks; so an index reads each word once for a bit, not for a pair
      select 2 as words, string_agg(format('(%s) & (%s)', b.without, b.having_it), ' | ')::tsquery
      from generate_series(0, 9) bit, lateral (
        select string_agg(quote_literal(w.word), ' | ') filter (where w.place >> bit & 1 = 0) as without,
          string_agg(quote_literal(w.word), ' | ') filter (where w.place >> bit & 1 = 1) as having_it
        from (select word, dense_rank() over (order by word)::int as place from unnest(wanted) word) w
      ) b
      where b.without is not null and b.having_it is not null
      having cardinality(p_words) > 2
      union all
      select 1, string_agg(quote_literal(w.word), ' | ')::tsquery from unnest(wanted) w (word)
    ) s (words, some_words)
    where r.required is not null
    order by r.place, s.words desc
  loop
    return query
      select c.type, c.id, (ts_rank(c.search_vector, p_asked) * 0.6 + coalesce(similarity(c.title, p_spelt), 0) * 0.4)::float8, wanted
      from (
        select e.* from (
          select e.type, e.id, e.title, e.search_vector
          from onto_search_entries e
          where e.created_by = p_actor_id and (e.search_vector @@ some_words or spelling <% e.title)
            and (numnode(required) = 0 or e.search_vector @@ required)
            and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
          limit max_candidates
        ) e
        order by coalesce(ts_rank(e.search_vector, some_words), 0) + coalesce(word_similarity(spelling, e.title), 0) desc, e.type, e.id
        limit max_scored
      ) c
      where not (c.search_vector @@ p_asked or coalesce(c.title % p_spelt, false))
      order by 3 desc, 1, 2
      limit p_limit;
    exit when found;
  end loop;
end
$$;


--
-- Name: nearest_people(public.halfvec, quarry.card_filters, text[], text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.nearest_people(p_embedding public.halfvec, p_filters quarry.card_filters, p_excluded_people text[], p_among text[], p_limit integer) RETURNS TABLE(person_id text, place bigint)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET random_page_cost TO '1.1'
    SET "hnsw.ef_search" TO '128'
    SET "hnsw.iterative_scan" TO 'relaxed_order'
    SET "hnsw.max_scan_tuples" TO '2147483647'
    SET synchronize_seqscans TO 'off'
    SET enable_nestloop TO 'on'
    AS $_$
#variable_conflict use_column
declare
  few constant int := 10 * p_limit;
  enough constant int := p_limit + p_limit / 4;  -- people, since the walk returns the nearest only roughly in order
  at_first constant int := 3 * p_limit;  -- vectors whose people are looked up
  trial constant int := 400;  -- vectors
  -- measured, in the planner's cost units
  comparing_cost constant float8 := 4;  -- a card and its children
  passing_cost constant float8 := 11;  -- a vector from the index, and a check of its card
  -- the planner takes it that a third of those who are something by their stems are so by the words; nearly all are
  of_expected constant float8 := case when p_filters.roles is not null then 3 else 1 end;
  fitting constant text := card_condition('t', p_filters, p_excluded_people, p_among);
  of_fitting constant text := 'from experience_cards t where ' || fitting;
  all_fitting constant text := 'select array_agg(t.id), array_agg(t.person_id) from (select t.id, t.person_id ' || of_fitting;
  fit text[];
  owners text[];  -- of the matching cards, in order
  plan json;
  walked int;  -- expected number of vectors
  most_walked int;
  walks boolean;
  vectors record;
  passed record;
  passed_count int;
  people text[];
  distances float8[];
  complete boolean;
  compared int[] := '{}';  -- lists
  of_vectors int := at_first;
  places bigint[];
begin
  if p_embedding is null then
    return query execute format('select t.person_id, 1::bigint %s limit %s', of_fitting, p_limit);
    return;
  end if;
  execute 'explain (format json) select t.id ' || of_fitting into plan;
  select least(1e9, enough * greatest(c.reltuples, 1) / f.rows), least(1e9, (f.cost + comparing_cost * f.rows) / passing_cost)
  into walked, most_walked
  from pg_class c,
    (select greatest(1, of_expected * (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8) as rows, (plan -> 0 -> 'Plan' ->> 'Total Cost')::float8 as cost) f
  where c.oid = 'experience_cards'::regclass;
  walks := walked < most_walked / 3;
  execute all_fitting || case when walks then ' limit ' || few + 1 else ' order by 1' end || ') t' into fit, owners;
  if coalesce(cardinality(fit), 0) <= p_limit then
    return query select o.person_id, 1::bigint from unnest(owners) o (person_id);
    return;
  end if;
  walks := walks and cardinality(fit) > few;
  if walks then
    fit := null;
  end if;

  for vectors in
    select * from (values (1, 'experience_card_embeddings', 'record_id'), (2, 'experience_card_child_embeddings', 'card_id')) v (list, of_table, key)
  loop
    people := '{}';
    complete := false;
    if compared = '{}' and walks then
      distances := '{}';
      passed_count := 0;
      for passed in execute format(
        'select t.person_id, e.distance from (select e.%I as id, e.embedding <=> $1 as distance from %I e order by 2 limit $2) e'
        ' left join lateral (select t.person_id from experience_cards t where t.id = e.id and %s offset 0) t on true',
        vectors.key, vectors.of_table, fitting) using p_embedding, most_walked
      loop
        passed_count := passed_count + 1;
        if passed.person_id is not null and passed.person_id <> all (people) then
          people := people || passed.person_id;
          distances := distances || passed.distance;
          exit when cardinality(people) = enough;
        end if;
        if passed_count >= trial and cardinality(people)::float8 / passed_count < enough::float8 / most_walked then
          passed_count := most_walked;  -- given up
          exit;
        end if;
      end loop;
      -- with few vectors, all were seen; the walk also ends when its memory is full
      complete := cardinality(people) = enough
        or passed_count < most_walked and passed_count >= (select 0.9 * c.reltuples from pg_class c where c.oid = vectors.of_table::regclass);
    end if;
    if complete then
      return query
        select n.person_id, row_number() over (order by n.distance, n.person_id) from unnest(people, distances) n (person_id, distance)
        order by 2 limit p_limit;
    else
      compared := compared || vectors.list;
    end if;
  end loop;
  if compared = '{}' then
    return;
  elsif fit is null then
    execute all_fitting || ' order by 1) t' into fit, owners;
  end if;
  -- the planner does not know how many match; for this call only: the function's own setting is restored after it
  perform set_config('enable_nestloop', 'off', true);

  loop
    with nearest as (
      (select 1 as list, e.id, e.distance
       from (select e.record_id as id, e.embedding <=> p_embedding as distance from experience_card_embeddings e where e.record_id = any(fit) offset 0) e
       where 1 = any(compared) order by 3 limit of_vectors)
      union all
      (select 2, e.id, e.distance
       from (select e.card_id as id, e.embedding <=> p_embedding as distance from experience_card_child_embeddings e where e.card_id = any(fit) offset 0) e
       where 2 = any(compared) order by 3 limit of_vectors)
    ), found as (
      select n.list, o.person_id, count(*) as vectors, row_number() over (partition by n.list order by min(n.distance), o.person_id) as place
      from nearest n join unnest(fit, owners) o (id, person_id) using (id) group by 1, 2
    )
    select array_agg(f.person_id), array_agg(f.place),
      -- this many vectors rarely belong to fewer people than requested; if they do, all are looked up
      case when bool_or(f.full_list and f.last_place < p_limit) then null else 0 end
    into people, places, of_vectors
    from (
      select f.*, sum(f.vectors) over of_list = of_vectors as full_list, max(f.place) over of_list as last_place
      from found f window of_list as (partition by f.list)
    ) f;
    exit when of_vectors = 0;
  end loop;
  return query select n.person_id, n.place from unnest(people, places) n (person_id, place) where n.place <= p_limit;
end
$_$;


--
-- Name: never_said(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.never_said(p_texts text[]) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $$
  select coalesce(array_agg(t.text order by t.place), '{}')
  from unnest(p_texts) with ordinality t (text, place), any_phrase(array[t.text]) q (phrase)
  where not exists (select from experience_cards c where c.visible and c.text_search @@ q.phrase)
    and not exists (
      select from experience_card_children k join experience_cards c on c.id = k.card_id where c.visible and k.text_search @@ q.phrase)
    and not exists (select from people p where p.text_search @@ q.phrase)
$$;


--
-- Name: note_changed_texts(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.note_changed_texts() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $$
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


--
-- Name: onto_documents_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_documents_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_documents t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_documents t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_entity_details(text, text, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_entity_details(p_actor_id text, p_type text, p_id text) RETURNS TABLE(type text, id text, project_id text, title text, props jsonb, project jsonb, created_at timestamp with time zone, updated_at timestamp with time zone)
    LANGUAGE plpgsql
    SET role TO 'quarry_ontology_reader'
    AS $$
#variable_conflict use_column
begin
  perform set_config('quarry.actor', p_actor_id, true);
  return query
    select e.type, e.id, e.project_id, e.title, e.props,
      case when p.id is not null then jsonb_build_object('id', p.id, 'name', p.name, 'description', p.description) end,
      e.created_at, e.updated_at
    from onto_entities e left join onto_projects p on p.id = e.project_id and p.created_by = p_actor_id
    where e.type = p_type and e.id = p_id and e.created_by = p_actor_id;
end
$$;


--
-- Name: onto_filtered_entities(text, text, text, text[], text[], integer[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_filtered_entities(p_actor_id text, p_query text, p_project_id text, p_types text[], p_ids text[], p_preferred integer[], p_limit integer DEFAULT 50) RETURNS TABLE(type text, id text, project_id text, project_name text, title text, snippet text, score double precision, is_match boolean, total bigint)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
  page_size constant int := least(p_limit, 50);
  asked constant record := read_query(p_query);
  spelt constant text := spelt_query(p_query);
  any_word constant tsquery := coalesce((select string_agg(quote_literal(w.word), ' | ') from unnest(asked.words[:16]) w (word)), '')::tsquery;
  page record;
begin
  select array_agg(r.type) as types, array_agg(r.id) as ids, array_agg(r.score) as scores, array_agg(r.is_match) as matches, max(r.found) as total
  into page
  from (
    select m.*, count(*) filter (where m.is_match) over () as found
    from (
      select e.type, e.id, k.place, k.preferred, numnode(asked.all_words) = 0 or e.search_vector @@ asked.all_words as is_match,
        (ts_rank(e.search_vector, any_word) * 0.6 + coalesce(similarity(e.title, spelt), 0) * 0.4)::float8 as score
      from unnest(p_types, p_ids, p_preferred) with ordinality k (type, id, preferred, place)
      join onto_search_entries e using (type, id)
      where e.created_by = p_actor_id and (p_project_id is null or e.project_id = p_project_id)
        and (numnode(asked.excluded) = 0 or e.search_vector @@ asked.excluded)
    ) m
    order by m.is_match desc, m.preferred desc, m.score desc, m.place
    limit page_size
  ) r;
  return query
    select d.type, d.id, d.project_id, d.project_name, d.title, d.snippet, page.scores[d.place], page.matches[d.place], page.total
    from describe_onto_entities(p_actor_id, page.types, page.ids, asked.words) d
    order by d.place;
end
$$;


--
-- Name: onto_goals_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_goals_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_goals t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_goals t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_keep_search_entry(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_keep_search_entry() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $$
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


--
-- Name: onto_milestones_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_milestones_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_milestones t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_milestones t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_outputs_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_outputs_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_outputs t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_outputs t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_plans_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_plans_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_plans t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_plans t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_readable_text(jsonb); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_readable_text(props jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT COALESCE(string_agg(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(v.text, '[ \t]+'::text, ' '::text, 'g'::text), '!?\[([^][]*)\]\([^()\s]*\)'::text, '\1'::text, 'g'::text), '^[ |:]*-{3}[ |:-]*$|^ ?(#{1,6}|>|[-*+]|```\w*|~~~\w*)( |$)'::text, ''::text, 'gn'::text), '\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)'::text, ''::text, 'g'::text), ' ?\| ?'::text, ' '::text, 'g'::text), '\s*\n\s*'::text, '
'::text, 'g'::text), '
'::text ORDER BY (length(v.text) < 40), v.place), ''::text) AS "coalesce" FROM (SELECT (t.value #>> '{}'::text[]) AS text, t.place FROM jsonb_path_query(onto_readable_text.props, 'strict $.**?(@.type() == "string")'::jsonpath) WITH ORDINALITY t(value, place)) v);


--
-- Name: onto_requirements_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_requirements_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_requirements t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_requirements t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_search_entities(text, text, text, text[], integer, integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_search_entities(p_actor_id text, p_query text, p_project_id text DEFAULT NULL::text, p_types text[] DEFAULT NULL::text[], p_limit integer DEFAULT 50, p_few_matches integer DEFAULT 5) RETURNS TABLE(type text, id text, project_id text, project_name text, title text, snippet text, score double precision, is_match boolean, total bigint, more boolean)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
  page_size constant int := least(p_limit, 50);
  page record;
begin
  select array_agg(r.type) as types, array_agg(r.id) as ids, array_agg(r.score) as scores, array_agg(r.is_match) as matches,
    max(r.found) as total, bool_or(r.more) as more,
    coalesce(max(r.words) filter (where not r.is_match), max(r.words)) as words
  into page
  from (select * from rank_onto_entities(p_actor_id, p_query, p_project_id, p_types, page_size, p_few_matches) r order by r.score desc, r.is_match desc, r.type, r.id) r;
  return query
    select d.type, d.id, d.project_id, d.project_name, d.title, d.snippet, page.scores[d.place], page.matches[d.place],
      page.total, page.more
    from describe_onto_entities(p_actor_id, page.types[:page_size], page.ids[:page_size], page.words) d
    order by d.place;
end
$$;


--
-- Name: onto_tasks_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_tasks_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, t.created_by, v.value from onto_tasks t, lateral (select distinct a.* from (
        select 'status', t.props->>'status'
        union all select 'assignee', t.props->>'assignee'
        union all select 'priority', t.props->>'priority'
        union all select 'kind', t.props->>'kind'
        union all select 'source', t.props->>'source'
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, t.created_by, v.value from onto_tasks t join onto_projects r on r.id = t.project_id and r.created_by = t.created_by, lateral (select distinct a.* from (
        select 'project', r.name
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: onto_words_like(text, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.onto_words_like(p_actor_id text, p_words text[]) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$
  with unknown as materialized (
    select w.word, left(w.word, 3) as beginning
    from unnest(p_words) w (word)
    where length(w.word) >= 4
      and not exists (select from onto_search_entries e where e.created_by = p_actor_id and e.search_vector @@ quote_literal(w.word)::tsquery)
  )
  select coalesce(array_agg(distinct l.word), '{}')
  from unknown u,
    lateral (
      select e.search_vector from onto_search_entries e
      where e.created_by = p_actor_id and e.search_vector @@ (quote_literal(u.beginning) || ':*')::tsquery
      limit 300
    ) e,
    unnest(tsvector_to_array(e.search_vector)) l (word)
  where starts_with(l.word, u.beginning) and similarity(l.word, u.word) >= 0.4
$$;


--
-- Name: parsed_query(text, regconfig); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.parsed_query(p_query text, p_language regconfig DEFAULT NULL::regconfig) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select (read_query(p_query, p_language)).all_words
$$;


--
-- Name: people_by_words(quarry.weighed_query, quarry.card_filters, text[], text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.people_by_words(p_query quarry.weighed_query, p_filters quarry.card_filters, p_excluded_people text[], p_among text[], p_limit integer) RETURNS TABLE(person_id text, place bigint)
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    SET random_page_cost TO '1.1'
    AS $_$
#variable_conflict use_column
declare
  few constant int := 2000;
  -- ordered, so that the partial index is used
  cards constant text[] := array(
    select c.id from experience_cards c where c.embedded_hash is distinct from c.content_hash order by c.id limit few + 1);
  children constant text[] := array(
    select k.id from experience_card_children k where k.embedded_hash is distinct from k.content_hash order by k.id limit few + 1);
  -- few rows: the planner does not know how few
  waiting constant text := case when greatest(cardinality(cards), cardinality(children)) <= few
    then 't.id = any (%L::text[]) and %s' else 't.embedded_hash is distinct from t.content_hash and %2$s' end;
begin
  if cards <> '{}' then
    return query
      select c.person_id, row_number() over (order by w.text_score desc, w.id)
      from text_candidates('experience_cards', p_query, p_limit,
          format(waiting, cards, card_condition('t', p_filters, p_excluded_people, p_among))) w,
        lateral (select c.person_id from experience_cards c where c.id = w.id offset 0) c;
  end if;
  if children <> '{}' then
    return query
      select c.person_id, row_number() over (order by w.text_score desc, w.id)
      from text_candidates('experience_card_children', p_query, p_limit, format(waiting, children, format(
          'exists (select from experience_cards c where c.id = t.card_id and %s)', card_condition('c', p_filters, p_excluded_people, p_among)))) w,
        lateral (
          select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id where k.id = w.id offset 0) c;
  end if;
end
$_$;


--
-- Name: people_holding(tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.people_holding(p_words tsquery) RETURNS SETOF text
    LANGUAGE sql STABLE
    AS $$
  select c.person_id from experience_cards c where c.visible and c.text_search @@ p_words
  union
  select c.person_id from experience_card_children k join experience_cards c on c.id = k.card_id where c.visible and k.text_search @@ p_words
  union
  select p.id from people p where p.text_search @@ p_words
$$;


--
-- Name: people_meeting(text[], text[], quarry.card_filters[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.people_meeting(p_names text[], p_texts text[], p_groups quarry.card_filters[]) RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'quarry', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    SET random_page_cost TO '1.1'
    AS $$
declare
  meeting text[];
  words text;
  asked card_filters;
begin
  if p_names <> '{}' then
    meeting := array(select p.id from people p where lower(btrim(p.name)) = any(p_names));
  end if;
  foreach words in array p_texts loop
    meeting := array(
      select h.person_id from people_holding(phraseto_tsquery('english', searchable_text(words))) h (person_id)
      where meeting is null or h.person_id = any(meeting));
  end loop;
  foreach asked in array p_groups loop
    meeting := array(
      select distinct c.person_id from experience_cards c join people p on p.id = c.person_id
      where (meeting is null or c.person_id = any(meeting)) and card_matches(c, p, asked));
  end loop;
  return meeting;
end
$$;


--
-- Name: people_standings(text[], quarry.card_filters[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.people_standings(p_people text[], p_clauses quarry.card_filters[], p_texts text[]) RETURNS TABLE(person_id text, met boolean[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'quarry', 'public', 'pg_temp'
    AS $_$
declare
  asked constant text[] :=
    array(select format('bool_or(card_matches(c, p, %L))', p_clauses[n.number]) from generate_subscripts(p_clauses, 1) n (number))
    || array(
      select format(
        'bool_or(c.text_search @@ %1$L or p.text_search @@ %1$L or exists (
           select from experience_card_children k where k.card_id = c.id and k.text_search @@ %1$L))',
        phraseto_tsquery('english', searchable_text(t.words)))
      from unnest(p_texts) with ordinality t (words, number) order by t.number);
begin
  return query execute format(
    'select c.person_id, array[%s]::boolean[] from experience_cards c join people p on p.id = c.person_id
     where c.person_id = any($1) and c.visible group by c.person_id', array_to_string(asked, ', '))
    using p_people;
end
$_$;


--
-- Name: people_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.people_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from people t, lateral (select distinct a.* from (
        select 'name', t.name
        union all select 'home', unnest(place_parts(concat_ws(', ', t.city, t.country)))
        union all select 'preferred_place', unnest(place_parts(joined_names(t.work_preferred_locations)))
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
      union all
      select 1, v.facet, '', v.value from people t join experience_cards r on r.person_id = t.id, lateral (select distinct a.* from (
        select 'company', r.company_name where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'team', r.team where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'title', title_runs(r.title) where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'seniority', r.seniority_level where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'employment', r.employment_type where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'workplace', unnest(place_parts(concat_ws(', ', r.city, r.country, r.location))) where r.person_id = t.id and r.visible and (r.intent_primary = 'education') is not true
        union all select 'school', r.company_name where r.person_id = t.id and r.visible and r.intent_primary = 'education'
        union all select 'degree', title_runs(r.title) where r.person_id = t.id and r.visible and r.intent_primary = 'education'
        union all select 'domain', r.domain where r.person_id = t.id and r.visible
        union all select 'sub_domain', r.sub_domain where r.person_id = t.id and r.visible
        union all select 'intent', r.intent_primary where r.person_id = t.id and r.visible
        union all select 'skill', unnest(r.skills) where r.person_id = t.id and r.visible
      ) a (facet, value)) v (facet, value) where exists (select from experience_cards v where v.person_id = t.id and v.visible)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: phrase_key(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.phrase_key(words text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN quarry.word_stem((COALESCE(array_to_string(quarry.word_stems((words)[:(cardinality(words) - 1)]), ''::text), ''::text) || (words)[cardinality(words)]));


--
-- Name: place_parts(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.place_parts(place text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_remove(regexp_split_to_array(btrim(place), '\s*[,;/|()]+\s*|\s+[-–—]\s+'::text), ''::text);


--
-- Name: profile_rules_out(quarry.people, tsquery, tsquery, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.profile_rules_out(p quarry.people, p_keywords tsquery, p_said tsquery, p_phrases tsquery) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select p.text_search @@ p_keywords and (
    says(searchable_text(p.headline), p_said)
    or coalesce(says(searchable_text(p.name), p_phrases), false))
$$;


--
-- Name: quoted_records(jsonb); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.quoted_records(p_json jsonb) RETURNS TABLE(kind text, id text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  -- `owner` is the kind of the record that a part belongs to, and '' for values of facets
  with recursive parts (key, value, owner) as (
    select null::text, p_json, null::text
    where coalesce(p_json ->> 'type', '') not in ('activity', 'partial_text', 'final_answer_chunk')
    union all
    select inside.*
    from parts p cross join lateral (
      select o.key, o.value, case
        when o.key in (
          'aggregation', 'arguments', 'constraints', 'detectedFilters', 'facets', 'fields', 'filters', 'groups', 'parameters')
          then ''
        else coalesce(
          case when jsonb_typeof(p.value -> 'id') = 'string' then coalesce(p.value ->> 'type', p.value ->> 'tool') end,
          case when p.owner = '' then '' end)
        end
      from jsonb_each(case when jsonb_typeof(p.value) = 'object' then p.value else '{}' end) o
      union all
      select p.key, a.value, p.owner
      from jsonb_array_elements(case when jsonb_typeof(p.value) = 'array' then p.value else '[]' end) a
    ) inside (key, value, owner)
  )
  select
    case when p.key = 'id' then nullif(p.owner, '') when p.owner is not null then regexp_replace(p.key, '(_id|Id)s?$', '') end,
    p.value #>> '{}'
  from parts p
  where jsonb_typeof(p.value) = 'string' and (p.owner is null or p.key = 'id' or p.key ~ '(_id|Id)s?$')
  union all
  select null, p.key from parts p where p.owner is null and p.key is not null
$_$;


--
-- Name: rank_onto_entities(text, text, text, text[], integer, integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.rank_onto_entities(p_actor_id text, p_query text, p_project_id text, p_types text[], p_limit integer, p_few_matches integer) RETURNS TABLE(type text, id text, score double precision, is_match boolean, found bigint, more boolean, words text[])
    LANGUAGE plpgsql STABLE
    SET "pg_trgm.similarity_threshold" TO '0.3'
    SET synchronize_seqscans TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
declare
  filled_page constant int := 10;
  max_ranked_words constant int := 2000;
  max_counted constant int := 10000;
  asked constant record := read_query(p_query);
  spelt constant text := spelt_query(p_query);
  indexed constant tsquery := index_query(asked.all_words);
  is_indexed constant boolean := indexed::text = asked.all_words::text;  -- otherwise phrases and exclusions are checked in the rows
  max_looked_at constant int := case when is_indexed then 2500 else 3000 end;
  max_ranked constant int := max_ranked_words / greatest(1, cardinality(asked.words));
  matches int;
begin
  if numnode(asked.all_words) = 0 and spelt is null
    or p_project_id is not null and not exists (select from onto_projects p where p.id = p_project_id and p.created_by = p_actor_id) then
    return;
  end if;
  return query
    with counted as materialized (  -- if there are too many to check
      select count_matches('onto_search_entries', concat_ws(' and ',
        format('t.created_by = %L and (t.search_vector @@ %L or t.title %% %L)', p_actor_id, indexed, spelt),
        't.project_id = ' || quote_literal(p_project_id), 't.type = any(' || quote_literal(p_types) || ')'), max_counted) as matches
      where is_indexed
    )
    select m.type, m.id, (ts_rank(m.words, asked.all_words) * 0.6 + coalesce(similarity(m.title, spelt), 0) * 0.4)::float8, true,
      case when m.is_all or not is_indexed then m.found else (select least(c.matches, max_counted) from counted c) end,
      not m.is_all and coalesce((select c.matches > max_counted from counted c), true), asked.words
    from (
      select l.*, count(l.words) over () as found, max(l.looked_at) over () < max_looked_at as is_all, row_number() over () as place
      from (
        select e.type, e.id, e.title, row_number() over () as looked_at,
          case
            when is_indexed or e.search_vector @@ asked.all_words
              or e.title % spelt and (numnode(asked.excluded) = 0 or e.search_vector @@ asked.excluded) then e.search_vector
          end as words
        from (
          select e.type, e.id, e.title, e.search_vector
          from onto_search_entries e
          where e.created_by = p_actor_id and (e.search_vector @@ indexed or e.title % spelt)
            and (p_project_id is null or e.project_id = p_project_id) and (p_types is null or e.type = any(p_types))
          limit max_looked_at
        ) e
      ) l
      where l.words is not null or l.looked_at = max_looked_at
    ) m
    where m.words is not null and m.place <= max_ranked
    order by 3 desc, 1, 2
    limit p_limit;
  get diagnostics matches = row_count;
  if matches < p_few_matches then
    return query
      select n.type, n.id, n.score, false, 0::bigint, false, n.words
      from nearest_onto_entities(
        p_actor_id, asked.all_words, asked.required, asked.excluded, asked.words, spelt, p_project_id, p_types,
        least(p_limit, filled_page) - matches) n;
  end if;
end
$$;


--
-- Name: read_query(text, regconfig); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.read_query(p_query text, p_language regconfig DEFAULT NULL::regconfig, OUT all_words tsquery, OUT required tsquery, OUT excluded tsquery, OUT phrases tsquery[], OUT words text[]) RETURNS record
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
declare
  max_characters constant int := 4000;  -- twice as many as a request may have
  max_part_characters constant int := 240;  -- per word or phrase
  max_parts constant int := 250;  -- distinguished before stems are compared
  max_part_words constant int := 12;  -- a longer phrase is split into words in any position
  max_words constant int := 16;
  max_excluded constant int := 6;
  max_required constant int := 8;
  -- each with its closing mark: a single mark may mean inches
  set_quotes constant text := '“([^“”„"]*)”|„([^“”„"]*)[“”]|«([^«»"]*)»';
begin
  with typed as (
    select m.place, m.part[1] as part, left(m.part[1], 1) = '"' as quoted, lower(m.part[1]) = 'or' as is_or,
      ltrim(m.part[1], '-') as bare, sum(length(m.part[1]) - length(ltrim(m.part[1], '-'))) over (order by m.place) as dashes
    from regexp_matches(
      regexp_replace(left(p_query, max_characters), set_quotes, '"\1\2\3"', 'g'), '"[^"]*"?|[^\s"]+', 'g'
    ) with ordinality m (part, place)
  ), parts as (
    select t.branch, t.excluded, t.quoted, left(t.bare, max_part_characters) as bare, min(t.place) as place
    from (
      select t.*, count(*) filter (where t.is_or) over (order by t.place) as branch,
        (t.dashes - coalesce(lag(t.dashes) over (order by t.place), 0)) % 2 = 1 as excluded
      from typed t where t.bare <> ''
    ) t
    where not t.is_or
    group by 1, 2, 3, 4 order by 5 limit max_parts
  ), read as (
    select p.branch, p.excluded, min(p.place) as place, bool_or(p.quoted) as quoted, min(p.bare) as bare, q.query
    from parts p, lateral (select asked_words(p_language, p.bare) as query offset 0) w, lateral (
      select case when numnode(w.query) < 2 * max_part_words then w.query else (
        select string_agg(quote_literal(l.lexeme), ' & ')::tsquery
        from (select l.lexeme from unnest(said_words(p_language, p.bare)) l order by l.positions[1] limit max_part_words) l
      ) end as query offset 0
    ) q
    where numnode(w.query) > 0
    group by p.branch, p.excluded, q.query
  ), kept as (
    select * from (
      select r.*, sum((numnode(r.query) + 1) / 2) over (partition by r.excluded order by r.place) as so_far,
        sum((numnode(r.query) + 1) / 2) over (partition by r.excluded, r.quoted and not r.excluded order by r.place)
          - (numnode(r.query) + 1) / 2 as before_it
      from read r
    ) r
    -- the first phrase of a kind is kept, however long
    where case when r.excluded then r.before_it < max_excluded else r.so_far <= max_words end
  ), branches as (
    select b.query, min(b.branch) as branch
    from (
      select k.branch, string_agg(case when k.excluded then '!' else '' end || '(' || k.query::text || ')', ' & ' order by k.place) as query
      from kept k group by k.branch having not bool_and(k.excluded)
    ) b
    group by 1
  )
  select (select string_agg('(' || b.query || ')', ' | ' order by b.branch)::tsquery from branches b),
    (select string_agg(case when k.excluded then '!' else '' end || '(' || k.query::text || ')', ' & ' order by k.place)::tsquery
     from kept k where k.excluded or k.quoted and k.before_it < max_required),
    (select string_agg('!(' || k.query::text || ')', ' & ' order by k.place)::tsquery from kept k where k.excluded),
    array(select k.query from kept k where k.quoted and not k.excluded and k.before_it < max_required and numnode(k.query) > 1
      order by k.place),
    array(
      select l.lexeme from (select string_agg(r.bare, ' ' order by r.place) as said from read r where not r.excluded) r,
        unnest(said_words(p_language, r.said)) l
      order by l.positions[1], l.lexeme limit max_parts)
  into all_words, required, excluded, phrases, words;
  all_words := coalesce(all_words, '');
  required := coalesce(required, '');
  excluded := coalesce(excluded, '');
end
$$;


--
-- Name: record_hashes(text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.record_hashes(p_types text[], p_ids text[]) RETURNS TABLE(type text, id text, hash text)
    LANGUAGE sql STABLE
    AS $$
  select k.type, x.id, md5((to_jsonb(x) - array['outcome', 'tally']::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join motions x on x.id = k.id where k.type = 'motion'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join agenda_items x on x.id = k.id where k.type = 'agenda_item'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join matters x on x.id = k.id where k.type = 'matter'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join document_sections x on x.id = k.id where k.type = 'document_section'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join key_statements x on x.id = k.id where k.type = 'key_statement'
  union all
  select k.type, x.id, md5((to_jsonb(x) - array[]::text[] - array['text_search', 'content_hash', 'embedded_hash', 'refused_hash', 'refusals'])::text)
  from unnest(p_types, p_ids) k (type, id) join transcript_segments x on x.id = k.id where k.type = 'transcript_segment'
  union all
  select c.name, r.id, r.row_hash
  from unnest(p_types, p_ids) k (type, id)
  join collections c on c.name = k.type
  join collection_rows r on r.collection = c.id and r.id = k.id
$$;


--
-- Name: record_snippet(text, text[], regconfig); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.record_snippet(p_body text, p_words text[], p_language regconfig) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select marked_words(coalesce(p_language, 'english'), b.body, w.any_word,
    'MaxFragments=2, MinWords=27, MaxWords=28, FragmentDelimiter=" … "')
  from (select left(p_body, 20000) as body) b, lateral (
      select coalesce(string_agg(quote_literal(l.lexeme), ' | '), '')::tsquery as any_word
      from (
        select unnest(p_words) as lexeme
        union
        -- mark the text's own words, with their accents
        select l.lexeme from unnest(to_tsvector('simple', b.body)) s, unnest(to_tsvector(p_language, s.lexeme)) l
        where p_language is not null and octet_length(s.lexeme) > length(s.lexeme) and not has_paired_letters(s.lexeme)
          and tsvector_to_array(text_words(p_language, s.lexeme)) && p_words
      ) l
    ) w
$$;


--
-- Name: refresh_facet_values(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.refresh_facet_values(p_table text) RETURNS integer
    LANGUAGE plpgsql
    AS $_$
declare
  places tid[];
  total int;
begin
  perform pg_advisory_xact_lock(hashtextextended('facet_values ' || p_table, 0));
  places := array(
    select f.ctid from facet_values f
    where f.table_name = p_table and (f.facet, f.scope, f.value) in (
      select d.facet, d.scope, d.value from facet_values d where d.table_name = p_table group by d.facet, d.scope, d.value having count(*) > 1)
    for update skip locked);
  with twice as (delete from facet_values f where f.ctid = any(places) returning f.*)
  insert into facet_values (table_name, facet, scope, value, row_count)
  select p_table, t.facet, t.scope, t.value, sum(t.row_count) from twice t group by t.facet, t.scope, t.value having sum(t.row_count) <> 0;

  places := array(
    select w.ctid from facet_words w
    where w.table_name = p_table and w.stem in (
      select d.stem from facet_words d where d.table_name = p_table group by d.stem having count(*) > 1)
    for update skip locked);
  with twice as (delete from facet_words w where w.ctid = any(places) returning w.*)
  insert into facet_words (table_name, stem, value_count)
  select p_table, t.stem, sum(t.value_count) from twice t group by t.stem having sum(t.value_count) <> 0;

  execute format(
    'select change_facet_values($1, array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change)) from (
       select w.facet, w.scope, w.value, sum(w.change)::int as change from (
         select v.* from %I() v
         union all select f.facet, f.scope, f.value, -f.row_count from facet_values f where f.table_name = $1
       ) w (facet, scope, value, change) group by w.facet, w.scope, w.value having sum(w.change) <> 0
     ) c', p_table || '_values')
  using p_table;
  perform change_facet_words(p_table, array_agg(c.stem), array_agg(c.change)) from (
    select w.stem, sum(w.change)::int as change from (
      select unnest(f.stems), 1 from facet_values f where f.table_name = p_table
      union all select k.stem, -k.value_count from facet_words k where k.table_name = p_table
    ) w (stem, change) group by w.stem having sum(w.change) <> 0
  ) c;

  select count(*) into total from facet_values f where f.table_name = p_table;
  return total;
end
$_$;


--
-- Name: rows_counted(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.rows_counted() RETURNS SETOF regclass
    LANGUAGE sql STABLE
    AS $$
  select c.oid::regclass
  from pg_class c
  join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
  join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] and a.attname = 'id' and a.atttypid = 'text'::regtype
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    and not has_table_privilege('quarry_serving', c.oid, 'insert')
  union all
  select h.inhrelid::regclass from pg_inherits h where h.inhparent = 'collection_rows'::regclass
$$;


--
-- Name: rows_held(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.rows_held() RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
declare
  held bigint;
begin
  execute 'select ' || (select string_agg(format('(select count(*) from %s)', t), ' + ') from rows_counted() t) into held;
  return held;
end $$;


--
-- Name: rows_per_long_row(regclass); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.rows_per_long_row(p_table regclass) RETURNS double precision
    LANGUAGE sql STABLE
    AS $$
  select 8000 / greatest(1, (select t.lexemes / nullif(t.rows, 0)::float8 from text_totals t where t.of_table = p_table::text))
$$;


--
-- Name: said_phrases(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.said_phrases(p_phrases text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select string_agg('(' || q.phrase || ')', ' | ')::tsquery
  from unnest(p_phrases) u (text), lateral (
    select string_agg(said_word(l.lexeme), ' <-> ' order by p.place) as phrase
    from unnest(to_tsvector('simple', searchable_text(u.text))) l, unnest(l.positions) p (place)
  ) q
  where q.phrase is not null
$$;


--
-- Name: said_word(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.said_word(p_lexeme text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select '(' || string_agg(distinct quote_literal(f.form), ' | ') || ')'
  from unnest(array[
    p_lexeme, p_lexeme || 's', p_lexeme || 'es', regexp_replace(p_lexeme, 's$', ''), regexp_replace(p_lexeme, 'es$', ''),
    regexp_replace(p_lexeme, 'y$', 'ies'), regexp_replace(p_lexeme, 'ies$', 'y')]) f (form)
  where f.form <> ''
$_$;


--
-- Name: said_words(regconfig, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.said_words(p_language regconfig, p_text text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when p_language is null then to_tsvector('english', paired_letters(p_text))
    else unaccented(to_tsvector(p_language, paired_letters(p_text))::text)::tsvector end
$$;


--
-- Name: says(text, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.says(p_text text, p_said tsquery) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE COST 1000 PARALLEL SAFE
    AS $$
begin
  return to_tsvector('simple', p_text) @@ p_said;
end
$$;


--
-- Name: search_campaigns(public.halfvec, text, integer, double precision, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_campaigns(p_query_embedding public.halfvec, p_field text DEFAULT 'profile'::text, p_limit integer DEFAULT 50, p_min_similarity double precision DEFAULT 0.25, p_filter text DEFAULT NULL::text) RETURNS TABLE(id text, score double precision)
    LANGUAGE sql STABLE
    AS $$
  select v.id, v.similarity
  from vector_candidates('campaigns', 'campaign_embeddings', p_query_embedding, p_limit, p_filter, p_embedding_type => p_field) v
  where v.similarity >= p_min_similarity
  order by v.similarity desc, v.id
$$;


--
-- Name: search_campaigns_by_text(text, integer, integer, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_campaigns_by_text(p_query text, p_limit integer, p_total_max integer DEFAULT 10000, p_filter text DEFAULT NULL::text) RETURNS TABLE(id text, score double precision, total integer, more boolean)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'on'
    SET synchronize_seqscans TO 'off'
    AS $_$
declare
  max_ranked_words constant int := 2000;
  max_looked_at constant int := 4000;
  max_postings constant float8 := 150000;
  asked constant record := read_query(p_query);
  indexed constant tsquery := bounded_index_query('campaigns', asked.all_words, max_postings);
  is_tested constant boolean := numnode(indexed) <> numnode(asked.all_words) or asked.all_words::text like '%<%';
  max_ranked constant int := least(p_limit, 2 * max_ranked_words / (numnode(asked.all_words) + 1));
  max_read constant int := case when is_tested then max_looked_at else p_total_max end;
  held tid[];
begin
  -- the planner underestimates the cost of searching texts row by row; for this call only: the function's own setting is
  -- restored after it
  perform set_config('enable_seqscan', (asked.all_words::text like '%|%'
    or p_filter is null and asked.all_words::text not like '%!%' and favors_seq_scan('campaigns', asked.words, max_read))::text, true);
  -- one read: within a snapshot, the physical position identifies a row
  execute format('
    select array_remove((array_agg(t.place))[:$3], null), count(*) > $3
    from (select %s as place from campaigns t where t.text_search @@ $2 and %s limit $3 + 1) t',
    case when is_tested then 'case when t.text_search @@ $1 then t.ctid end' else 't.ctid' end, coalesce('(' || p_filter || ')', 'true'))
    into held, more using asked.all_words, indexed, max_read;
  total := cardinality(held);
  return query
    select c.id, c.score, total, more
    from (
      select t.id, ts_rank_cd(t.text_search, asked.all_words)::float8 as score from campaigns t where t.ctid = any(held[:max_ranked])
      union all
      select t.id, 0 from campaigns t where t.ctid = any(held[max_ranked + 1:p_limit])
    ) c
    order by 2 desc, 1;
end
$_$;


--
-- Name: search_campaigns_by_theme(text, public.halfvec, integer, text, text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_campaigns_by_theme(p_query text, p_query_embedding public.halfvec, p_limit integer, p_filter text DEFAULT NULL::text, p_excluded text[] DEFAULT '{}'::text[]) RETURNS TABLE(id text, coverage double precision, similarity double precision)
    LANGUAGE plpgsql STABLE
    AS $$
declare
  weighed weighed_query := weigh_query(array['campaigns'], p_query);
begin
  weighed.required := (
    select string_agg('!(' || q.query::text || ')', ' & ')::tsquery
    from unnest(p_excluded) e (said), parsed_query(e.said) q (query) where numnode(q.query) > 0);
  return query
    select c.id, c.coverage, c.similarity
    from hybrid_candidates('campaigns', 'campaign_embeddings', weighed, p_query_embedding, p_limit, p_filter,
      p_rows => greatest(500, 2 * p_limit), p_embedding_type => 'profile') c;
end
$$;


--
-- Name: search_companies_by_taxonomy_v1(text[], text[], text[], text[], integer, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_companies_by_taxonomy_v1(p_sectors text[], p_categories text[], p_business_models text[], p_statuses text[] DEFAULT ARRAY['startup'::text], p_limit integer DEFAULT 500, p_filter text DEFAULT NULL::text) RETURNS TABLE(company_id text, sector_hits integer, category_hits integer, model_hits integer, tag_score integer)
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  asked constant text[] := (taxonomy_tags(p_sectors, p_categories, p_business_models))[:24];
  no_hits constant text := '0';
  tags tsquery;
  two_tags tsquery;
  sectors text;
  categories text;
  models text;
  enough boolean;
  scope constant text := concat_ws(' and ', 'true',
    case when p_statuses is not null then 't.status = any($3)' end, case when p_filter is not null then '(' || p_filter || ')' end);
begin
  if asked = '{}' then
    return;
  end if;
  select string_agg(quote_literal(a.tag) || ' & ' || quote_literal(b.tag), ' | ')::tsquery into two_tags
  from unnest(asked) a (tag) join unnest(asked) b (tag) on a.tag < b.tag;
  select string_agg(a.lexeme, ' | ')::tsquery,
    coalesce(string_agg(a.hit, ' + ') filter (where a.tag like 'sector:%'), no_hits),
    coalesce(string_agg(a.hit, ' + ') filter (where a.tag like 'category:%'), no_hits),
    coalesce(string_agg(a.hit, ' + ') filter (where a.tag like 'business_model:%'), no_hits)
  into tags, sectors, categories, models
  from (
    select u.tag, quote_literal(u.tag) as lexeme, format('(t.taxonomy_search @@ %L::tsquery)::int', quote_literal(u.tag)) as hit
    from unnest(asked) u (tag)
  ) a;
  execute format('select $1 <= (select count(*) from (select from companies t where t.taxonomy_search @@ $2 and %s limit $1) enough)', scope)
    into enough using p_limit, two_tags, p_statuses;
  if enough then
    tags := two_tags;
  end if;

  return query execute format(
    'select m.id, m.sectors, m.categories, m.models, m.sectors + m.categories + m.models from ('
    '  select t.id, t.company_name, %s as sectors, %s as categories, %s as models from companies t'
    '  where t.taxonomy_search @@ $1 and %s'
    ') m order by 5 desc, m.company_name, m.id limit $2', sectors, categories, models, scope)
    using tags, p_limit, p_statuses;
end
$_$;


--
-- Name: search_companies_hybrid_v1(text, public.halfvec, text[], text[], text[], integer, double precision, double precision[], text, text[], boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_companies_hybrid_v1(p_query_text text, p_query_embedding public.halfvec, p_statuses text[] DEFAULT ARRAY['startup'::text], p_include_ids text[] DEFAULT NULL::text[], p_exclude_ids text[] DEFAULT '{}'::text[], p_limit integer DEFAULT 120, p_min_semantic double precision DEFAULT 0.25, p_weights double precision[] DEFAULT ARRAY[0.58, 0.27, 0.15], p_filter text DEFAULT NULL::text, p_fitting text[] DEFAULT NULL::text[], p_fits_many boolean DEFAULT false) RETURNS TABLE(company_id text, semantic_score double precision, keyword_score double precision, niche_score double precision, combined_score double precision, matched_fields text[])
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'on'
    SET synchronize_seqscans TO 'off'
    AS $_$
declare
  no_match constant float8 := 1e-15;
  max_read constant int := 8000;
  max_ranked_words constant int := 6000;
  among constant text := coalesce('and ' || company_condition(null, p_include_ids, null, null), '');
  condition constant text := company_condition(p_statuses, p_include_ids, p_exclude_ids, p_filter);
  max_words constant int := 16;  -- words of the whole query, see read_query
  asked constant record := read_query(coalesce(p_query_text, ''));
  -- most rows with the query's words to rank
  max_worded constant int := least(1000, max_ranked_words / greatest(1, least(max_words, cardinality(asked.words))));
  gathered tsquery[];
  words tsquery;
  reads boolean;
begin
  if p_query_embedding is null or coalesce(p_limit, 0) < 1 then
    return;
  end if;
  gathered := candidate_queries('companies', asked.words[:max_words], max_worded);
  words := coalesce(gathered[1], '') || coalesce(gathered[3], '') || coalesce(gathered[4], '');
  reads := p_include_ids is null and gathered[1] is null and favors_seq_scan('companies', array(
    select w.word from unnest(asked.words[:max_words]) w (word) left join lexeme_counts c on c.lexeme = w.word and c.of_table = 'companies'
    order by c.rows nulls first limit 2), case when condition is null then max_worded else max_read end);
  -- not the planner's choice; for this call only: the function's own settings are restored after it
  perform set_config('enable_seqscan', reads::text, true), set_config('enable_bitmapscan', (not reads)::text, true);

  return query execute format('
  with nearest as materialized (
    select v.id, v.similarity
    from vector_candidates(''companies'', ''company_embeddings'', $1, $9, $5, p_embedding_type => ''searchable_profile'', p_fitting => $8, p_fits_many => $10) v
  ), ranked as materialized (
    select f.id, f.similarity, r.*, $7[2] * r.keyword + $7[3] * r.niche as by_words
    from (
      select t.id, n.similarity, t.text_search, t.niches_search from nearest n join companies t using (id)
      union all
      (select t.id, null, t.text_search, t.niches_search from (select t.* from companies t where t.text_search @@ $3 %4$s limit %5$s) t
       where not t.id in (select n.id from nearest n) %1$s limit %2$s)
    ) f, lateral (
      select ts_rank(f.text_search, $2)::float8 as keyword, ts_rank(f.niches_search, $2)::float8 as niche offset 0) r
  ), reach as materialized (
    select min(r.similarity) as farthest, (
      select $7[1] * n.similarity + n.by_words from ranked n where n.similarity >= $6 order by 1 desc offset $4 - 1 limit 1) as last_score
    from ranked r
  ), scored as (
    select r.id, s.semantic, case when r.keyword > %3$s then r.keyword else 0 end as keyword,
      case when r.niche > %3$s then r.niche else 0 end as niche
    from reach c, ranked r, lateral (select coalesce(r.similarity, (
      select 1 - min(e.embedding <=> $1) from company_embeddings e
      where e.record_id = r.id and e.embedding_type = ''searchable_profile'')) as semantic offset 0) s
    where (r.similarity is not null or c.last_score is null or $7[1] * c.farthest + r.by_words >= c.last_score) and s.semantic >= $6
  )
  select s.id, s.semantic, s.keyword, s.niche, $7[1] * s.semantic + $7[2] * s.keyword + $7[3] * s.niche,
    array_remove(array[case when s.semantic > 0 then ''semantic'' end, case when s.keyword > 0 then ''keyword'' end,
      case when s.niche > 0 then ''niche'' end], null)
  from scored s
  order by 5 desc, 1
  limit $4', ' and (' || condition || ')', max_worded, no_match, among, max_read)
    using p_query_embedding, asked.all_words, words, p_limit, condition, p_min_semantic, p_weights, p_fitting,
      -- half as far past rows that do not meet the filters
      case when p_fits_many then p_limit else 2 * p_limit end, p_fits_many;
end
$_$;


--
-- Name: search_companies_keyword_v1(text, text[], integer, text[], text[], double precision[], text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_companies_keyword_v1(p_query_text text, p_statuses text[] DEFAULT ARRAY['startup'::text], p_limit integer DEFAULT 120, p_include_ids text[] DEFAULT NULL::text[], p_exclude_ids text[] DEFAULT '{}'::text[], p_weights double precision[] DEFAULT ARRAY[0.85, 0.15], p_filter text DEFAULT NULL::text) RETURNS TABLE(company_id text, keyword_score double precision, niche_score double precision, combined_score double precision, coverage double precision, matched_fields text[])
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'on'
    SET synchronize_seqscans TO 'off'
    AS $_$
declare
  max_read constant int := 8000;
  max_looked_at constant int := 5000;
  max_ranked_words constant int := 12000;
  max_candidates constant int := 1000;  -- most rows with some of the words to rank
  max_words constant int := 8;  -- weightiest words of a long query to look up
  among constant text := coalesce('and ' || company_condition(null, p_include_ids, null, null), '');
  scope constant text := coalesce(company_condition(p_statuses, null, p_exclude_ids, p_filter), 'true');
  matched constant text := 'array_remove(array['
    'case when m.keyword > 0 then ''keyword'' end, case when m.niche > 0 then ''niche'' end], null)';
  asked constant record := read_query(coalesce(p_query_text, ''));
  max_said constant int := 16;  -- words of the whole query, see read_query
  max_matches constant int := max_ranked_words / greatest(1, least(max_said, cardinality(asked.words)));
  max_listed constant int := 4;  -- words
  listed constant int := max_matches / 2 / greatest(1, least(max_listed, cardinality(asked.words)));
  of_best constant text := '(select * from companies t where t.id = any($5) offset 0) t';  -- only the index of ids
  max_together constant int := 60000 / greatest(1, cardinality(asked.words));
  together int;
  best text[];
  is_common boolean;
  is_enough boolean;
  weighed weighed_query;
  some_words tsquery;
  indexed tsquery;
  keyword_sum text;
  niche_sum text;
  held_sum text;
  found int;
begin
  -- without words, or with only exclusions, every row would match
  if numnode(asked.all_words) = 0 then
    return;
  end if;

  is_common := p_weights[1] > p_weights[2] and not exists (
    select from unnest(asked.words) w (word) left join lexeme_counts c on c.of_table = 'companies' and c.lexeme = w.word
    where c.rows is null or c.rows <= max_looked_at);
  if is_common then
    -- the number of rows with all words is only known without OR, phrases and exclusions; related words are in somewhat more rows
    select max_together into together from lexeme_counts c join text_totals t using (of_table)
    where c.of_table = 'companies' and c.lexeme = any(asked.words) and asked.all_words::text !~ '[|!<]'
    having count(*) > 1 and 0.8 * max_together > min(t.rows) * exp(sum(ln(c.rows / greatest(1, t.rows)::float8)));
  end if;
  if together is null and is_common then
    select array_agg(distinct b.id) into best
    from unnest(asked.words[:max_listed]) w (word), unnest(champion_rows('companies', w.word, listed, max_looked_at)) b (id);
    execute format('select array(select t.id from %s where (t.text_search @@ $1 or t.niches_search @@ $1) %s and %s)', of_best, among, scope)
      into best using asked.all_words, null, null, null, best;
    is_enough := cardinality(asked.words) = 1 and cardinality(best) >= p_limit;
  end if;

  return query execute format(
    'select m.id, m.keyword, m.niche, $3[1] * m.keyword + $3[2] * m.niche, 1::float8, %s'
    ' from ('
    '   select r.id, case when r.keyword > 1e-15 then r.keyword else 0 end as keyword,'
    '     case when r.niche > 1e-15 then r.niche else 0 end as niche'
    '   from ('
    '     select t.id, ts_rank(t.text_search, $1)::float8 as keyword, ts_rank(t.niches_search, $1)::float8 as niche'
    '     from (%s) t offset 0'
    '   ) r offset 0'
    ' ) m order by 4 desc, 1 limit $2', matched, concat_ws(' union all ',
      case when best is not null then 'select t.* from ' || of_best end,
      case when is_enough is not true then format(
        '(select t.* from (select t.* from (select t.* from companies t where (t.text_search @@ $4 or t.niches_search @@ $4) %s %s limit %s) t where %s limit %s) t'
        ' where t.text_search @@ $1 or t.niches_search @@ $1 limit %s)',
        among, case when best is not null then 'and not t.id = any($5)' end, greatest(max_read, together), scope,
        greatest(max_looked_at, together), greatest(max_matches - coalesce(cardinality(best), 0), together)) end))
    using asked.all_words, p_limit, p_weights, index_query(asked.all_words), best;
  get diagnostics found = row_count;
  if 2 * found >= p_limit then
    return;
  end if;

  weighed := weigh_query(array['companies'], p_query_text, p_strict => true, p_max_words => max_words);
  select coalesce(g.parts[1], '') || coalesce(g.parts[3], '') || coalesce(g.parts[4], '') into some_words
  from candidate_queries('companies', weighed.words, max_candidates) g (parts);
  if numnode(some_words) = 0 then
    return;
  end if;
  indexed := some_words;
  if numnode(weighed.required) > 0 then
    indexed := some_words && bounded_index_query('companies', weighed.required, 'infinity');
    some_words := some_words && weighed.required;
  end if;
  select string_agg(format('%L::float8 * ts_rank(t.text_search, %L)', u.share, quote_literal(u.word)), ' + '),
    string_agg(format('%L::float8 * ts_rank(t.niches_search, %L)', u.share, quote_literal(u.word)), ' + '),
    string_agg(format('%1$L::float8 * (m.text_search @@ %2$L or m.niches_search @@ %2$L)::int', u.share, quote_literal(u.word)), ' + ')
  into keyword_sum, niche_sum, held_sum
  from (select u.word, u.weight / sum(u.weight) over () as share from unnest(weighed.words, weighed.weights) u (word, weight)) u;

  -- the planner assumes unknown words are common enough to find by reading the table up to the limit; for this call only: the
  -- function's own setting is restored after it
  perform set_config('enable_seqscan', 'off', true);
  return query execute format(
    'select m.id, m.keyword, m.niche, m.combined, %s, %s'
    ' from ('
    '   select r.*, $3[1] * r.keyword + $3[2] * r.niche as combined from ('
    '     select t.id, t.text_search, t.niches_search, %s as keyword, %s as niche'
    '     from (select t.* from (select t.* from companies t where (t.text_search @@ $5 or t.niches_search @@ $5) %s limit %s) t where %s limit %s) t'
    '     where (t.text_search @@ $1 or t.niches_search @@ $1) and not (t.text_search @@ $4 or t.niches_search @@ $4) limit %s'
    '   ) r order by combined desc, r.id limit $2'
    ' ) m order by m.combined desc, m.id', held_sum, matched, keyword_sum, niche_sum, among, max_read, scope, max_looked_at, max_candidates)
    using some_words, p_limit - found, p_weights, asked.all_words, indexed;
end
$_$;


--
-- Name: search_company_variants(text[], public.halfvec[], text[], text[], text[], boolean, boolean, integer, double precision, double precision[], double precision[], text, text[], boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_company_variants(p_texts text[], p_embeddings public.halfvec[], p_statuses text[], p_include_ids text[], p_exclude_ids text[], p_hybrid boolean, p_keyword boolean, p_limit integer, p_min_semantic double precision, p_hybrid_weights double precision[], p_keyword_weights double precision[], p_filter text DEFAULT NULL::text, p_fitting text[] DEFAULT NULL::text[], p_fits_many boolean DEFAULT false) RETURNS TABLE(company_id text, semantic double precision, keyword double precision, niche double precision, combined double precision, matched_fields text[], variants integer, found_by text[])
    LANGUAGE sql STABLE
    AS $$
  with found as (
    select 'hybrid' as search, v.place, h.company_id, h.semantic_score as semantic, h.keyword_score as keyword, h.niche_score as niche,
      h.combined_score as combined, h.matched_fields
    from unnest(p_texts[:16], p_embeddings[:16]) with ordinality v (text, embedding, place),
      lateral search_companies_hybrid_v1(
        v.text, v.embedding, p_statuses, p_include_ids, p_exclude_ids, p_limit, p_min_semantic, p_hybrid_weights, p_filter, p_fitting, p_fits_many) h
    where p_hybrid and v.embedding is not null
    union all
    select 'keyword', v.place, k.company_id, 0, k.keyword_score, k.niche_score, k.combined_score, k.matched_fields
    from unnest(p_texts[:16]) with ordinality v (text, place),
      lateral search_companies_keyword_v1(v.text, p_statuses, p_limit, p_include_ids, p_exclude_ids, p_keyword_weights, p_filter) k
    where p_keyword
  )
  select f.company_id, max(f.semantic), max(f.keyword), max(f.niche), max(f.combined),
    array_remove(array[
      case when bool_or('semantic' = any(f.matched_fields)) then 'semantic' end,
      case when bool_or('keyword' = any(f.matched_fields)) then 'keyword' end,
      case when bool_or('niche' = any(f.matched_fields)) then 'niche' end], null),
    count(distinct f.place)::int,
    array_agg(distinct f.search order by f.search)
  from found f
  group by f.company_id
  order by 5 desc, 1
$$;


--
-- Name: search_exact_name_v1(text, text[], integer, double precision); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_exact_name_v1(p_query_text text, p_statuses text[] DEFAULT ARRAY['startup'::text], p_limit integer DEFAULT 5, p_min_similarity double precision DEFAULT 0.35) RETURNS TABLE(company_id text, company_name text, name_score double precision, matched text, status text)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET "pg_trgm.similarity_threshold" TO '0.35'
    SET "pg_trgm.word_similarity_threshold" TO '0.01'
    AS $_$
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
$_$;


--
-- Name: search_exact_names(text[], text[], integer, double precision); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.search_exact_names(p_names text[], p_statuses text[] DEFAULT ARRAY['startup'::text], p_limit integer DEFAULT 5, p_min_similarity double precision DEFAULT 0.35) RETURNS TABLE(company_id text, company_name text, name_score double precision, matched text, status text, asked text)
    LANGUAGE sql STABLE
    AS $$
  select b.company_id, b.company_name, b.name_score, b.matched, b.status, b.asked
  from (
    select distinct on (m.company_id) m.*, a.asked, a.place
    from unnest(p_names[:20]) with ordinality a (asked, place),
      lateral search_exact_name_v1(a.asked, p_statuses, p_limit, p_min_similarity) with ordinality m (company_id, company_name, name_score, matched, status, rank)
    order by m.company_id, m.name_score desc, a.place
  ) b
  order by b.name_score desc, b.place, b.rank
$$;


--
-- Name: seen_words(text, text, text[], integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.seen_words(p_table text, p_seen text, p_words text[], p_rows integer, OUT rows integer, OUT lexemes double precision, OUT held integer[]) RETURNS record
    LANGUAGE plpgsql STABLE
    SET synchronize_seqscans TO 'off'
    AS $_$
begin
  execute format(
    'select count(*), coalesce(sum(lexemes_held(s.words)), 0), array[%s]::int[]'
    ' from (select setweight(t.text_search, ''D'') as words from %s t where %s limit $1 offset 0) s',
    (select string_agg(format('count(*) filter (where s.words @@ %L::tsquery)', quote_literal(w.word)), ', ' order by w.place)
     from unnest(p_words) with ordinality w (word, place)),
    p_table::regclass, p_seen)
    into rows, lexemes, held using p_rows;
end
$_$;


--
-- Name: sees_all_rows(regclass); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.sees_all_rows(p_relation regclass) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  with recursive relations as (
    select p_relation::oid as oid
    union
    select d.refobjid
    from relations r join pg_class c on c.oid = r.oid and c.relkind = 'v' and c.reloptions::text ~ '\msecurity_invoker=(true|on|yes|1)\M'
    join pg_rewrite w on w.ev_class = r.oid join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
    where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.oid
  ), applying as (
    select p.polrelid, p.polpermissive, pg_get_expr(p.polqual, p.polrelid) = 'true' as lets_all_through
    from pg_policy p
    where p.polcmd in ('*', 'r') and exists (
      select from unnest(p.polroles) r (role) where r.role = 0 or pg_has_role(current_user, r.role, 'usage'))
  )
  select bool_and(not row_security_active(r.oid) or (
    exists (select from applying a where a.polrelid = r.oid and a.polpermissive and a.lets_all_through)
    and not exists (select from applying a where a.polrelid = r.oid and not a.polpermissive)))
  from relations r
$$;


--
-- Name: spelt_query(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.spelt_query(p_query text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((length(p_query) <= 300) AND (p_query ~ '[[:alnum:]]'::text)) THEN "left"(regexp_replace(p_query, '^[^[:alnum:]]+'::text, ''::text), 64) ELSE NULL::text END;


--
-- Name: suggested_titles(regclass, text, text, text[], integer, text, text, regconfig); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.suggested_titles(p_table regclass, p_titles text, p_query text, p_ranked text[], p_limit integer, p_filter text DEFAULT NULL::text, p_seen text DEFAULT NULL::text, p_language regconfig DEFAULT 'english'::regconfig) RETURNS TABLE(id text, is_whole boolean)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $_$
declare
  max_words constant int := 8;
  shortest constant int := 2;  -- letters; a single letter begins too many words
  max_read constant int := 20 * p_limit;
  typed constant text[] := array(
    select w.lexeme from unnest(title_words(left(p_query, 300))) w
    where length(w.lexeme) >= shortest or has_paired_letters(w.lexeme) order by w.positions[1]);
  of_ranked constant text := format(
    'select r.id, $4 from unnest($2) with ordinality r (id, place) join %s t on t.id = r.id where %s @@ $1 order by r.place limit $3',
    p_table, p_titles);
  word text;
  known boolean;
  part text;
  parts text[] := '{}';
  listed int;
  others int := 0;
begin
  foreach word in array typed[:max_words] loop
    continue when word <> typed[cardinality(typed)] and to_tsvector(p_language, word) = '';
    part := quote_literal(word) || ':*';
    execute format('select exists (select from %s t where %s @@ $1 %s)', p_table, p_titles, 'and (' || p_seen || ')') into known using part::tsquery;
    if not known then
      select string_agg(quote_literal(l.word) || ':*', ' | ') into part from unnest(title_words_like(p_table, p_titles, p_seen, word)) l (word);
    end if;
    parts := parts || format('(%s)', coalesce(part, quote_literal(word)));
  end loop;
  if parts = '{}' then
    return;
  end if;
  return query execute of_ranked using array_to_string(parts, ' & ')::tsquery, p_ranked, p_limit, true;
  get diagnostics listed = row_count;
  if listed < p_limit then
    return query execute format(
      'select s.id, true from (select t.id, length(%1$s) as words from %2$s t where %1$s @@ $1 and not t.id = any($2) %3$s limit %4$s) s
       order by s.words, s.id limit $3', p_titles, p_table, 'and (' || p_filter || ')', max_read)
      using array_to_string(parts, ' & ')::tsquery, p_ranked, p_limit - listed;
    get diagnostics others = row_count;
  end if;
  if listed + others = 0 then
    return query execute of_ranked using array_to_string(parts, ' | ')::tsquery, p_ranked, p_limit, false;
  end if;
end
$_$;


--
-- Name: text_candidates(regclass, quarry.weighed_query, integer, text, integer, text[], boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.text_candidates(p_table regclass, p_query quarry.weighed_query, p_limit integer, p_filter text DEFAULT NULL::text, p_rows integer DEFAULT 2000, p_fitting text[] DEFAULT NULL::text[], p_fits_many boolean DEFAULT false) RETURNS TABLE(id text, text_score double precision, coverage double precision)
    LANGUAGE plpgsql STABLE
    SET work_mem TO '32MB'
    SET enable_seqscan TO 'on'
    SET enable_bitmapscan TO 'on'
    SET synchronize_seqscans TO 'off'
    AS $_$
declare
  k1 constant float8 := 1.2;
  b constant float8 := 0.75;
  nearness constant float8 := 0.5;
  least_ranked constant int := greatest(p_limit, 100);  -- pairs are searched for in this many of the best rows
  any_word constant tsquery := (select string_agg(quote_literal(w), ' | ')::tsquery from unnest((p_query).words) w);
  few constant int := 1000;
  few_words constant int := 3;
  wider constant int := 10;  -- factor for a single word
  looked_at constant int := 5;  -- factor to the ranked rows of a query of many words
  large constant float8 := 100000;  -- rows of a table
  larger constant float8 := greatest(1, cbrt((select c.reltuples from pg_class c where c.oid = p_table) / large));
  within_length constant float8 := greatest(least_ranked, larger * p_rows * rows_per_long_row(p_table));
  max_ranked constant int := least(1e9, within_length, larger * p_rows
    * case when cardinality((p_query).words) <= few_words then wider / cardinality((p_query).words) else 1 end);
  max_covered constant int := 6;
  is_filtered constant boolean := p_filter is not null or p_fitting is not null;
  condition constant text := case
    -- not `any`, which the planner would estimate id by id
    when cardinality(p_fitting) > few then 'and t.id in (select unnest($3)) is true'
    when p_fitting is not null then 'and t.id = any($3)' else coalesce('and (' || p_filter || ')', '') end;
  of_best constant text := format('(select * from %s t where t.id = any($1) offset 0) t', p_table);  -- only the index of ids
  required constant tsquery := case when numnode((p_query).required) > 0 then (p_query).required end;
  holds_phrase constant boolean := coalesce(required::text like '%<%', false);
  max_postings constant float8 := larger * 150000;
  is_tested constant boolean := holds_phrase or coalesce(max_postings < (
    select sum(c.rows) from lexeme_counts c, regexp_matches(required::text, $re$'((?:[^']|'')+)'$re$, 'g') m (word)
    where c.of_table = p_table::text and c.lexeme = replace(m.word[1], '''''', '''')), false);
  indexed constant tsquery := case when is_tested
    then bounded_index_query(p_table, required, case when holds_phrase then 'infinity' else max_postings end) else required end;
  max_looked_at constant int := least(1e9, within_length, larger * p_rows * looked_at);
  max_listed constant int := 4;  -- words
  listed constant int := max_ranked / 4 / least(max_listed, cardinality((p_query).words));
  words_held constant int := (least(5, cardinality((p_query).words)) + 3) / 2 - (cardinality((p_query).words) = 1)::int;  -- see candidate_queries
  wanted tsquery[];
  best text[];
  rows_left int := case when p_fits_many then few + 1 else cardinality(p_fitting) end;
  rows_ranked int;
  rows_taken int;
  reads boolean;
begin
  if any_word is null then
    return;
  end if;
  if p_filter is not null and rows_left is null then
    execute format('select count(*) from (select from %s t where %s limit %s) t', p_table, p_filter, few + 1) into rows_left;
  end if;
  if cardinality((p_query).words) = 1 and (rows_left is null or rows_left > few) then
    -- rows that fail the other conditions are replaced by the next
    best := champion_rows(p_table, (p_query).words[1], case when not is_filtered and required is null then 2 * least_ranked end, least(p_rows, max_ranked) / 2);
    if best is not null and (is_filtered or required is not null) then
      execute format('select array(select t.id from %s where t.text_search @@ $2 %s)', of_best, condition)
        into best using best, coalesce(any_word && required, any_word), p_fitting;
    end if;
  end if;
  if rows_left <= least(few, max_ranked) or cardinality((p_query).words) = 1 then
    wanted := case when best is null or cardinality(best) < least_ranked then array[any_word] else '{}' end;
  else
    -- if the rarest word is common: the best rows of each word, if too many rows contain all words; if few do, those of the rarest,
    -- which would otherwise be looked up by itself
    best := champion_rows(p_table, (p_query).words[1], listed, max_ranked / 2);
    if best is not null then
      best := (
        select case
          when together.rows > max_ranked then array(
            select unnest(best)
            union select unnest(champion_rows(p_table, w.word, listed, max_ranked / 2)) from unnest((p_query).words[2:max_listed]) w (word))
          when together.rows < max_ranked / 30 then best end
        from lexeme_counts one, lexeme_counts other, text_totals t, lateral (select one.rows::float8 * other.rows / t.rows as rows) together
        where one.of_table = p_table::text and one.lexeme = (p_query).words[1]
          and other.of_table = p_table::text and other.lexeme = (p_query).words[2] and t.of_table = p_table::text);
    end if;
    wanted := candidate_queries(p_table, (p_query).words, max_ranked);
    wanted := array_remove(case when best is null then wanted else wanted[:3] end, null);
  end if;
  if required is not null then
    -- one query for both: the index applies the exclusions
    wanted := array(select w.query && indexed from unnest(wanted) with ordinality w (query, place) order by w.place);
  end if;

  rows_ranked := case when cardinality((p_query).words) = 1 and best is not null then least(p_rows, max_ranked) + cardinality(best) else max_ranked end;
  rows_taken := case when is_tested then max_looked_at else rows_ranked end;
  reads := not is_filtered and coalesce(numnode(indexed), 0) = 0 and favors_seq_scan(p_table, (p_query).words[:words_held], rows_taken);
  -- not the planner's choice, which assumes unknown words are common enough to find by reading the table up to the limit; for this
  -- call only: the function's own settings are restored after it
  perform set_config('enable_seqscan', reads::text, true), set_config('enable_bitmapscan', (not reads)::text, true);
  return query execute format('
    select s.id, (s.score %1$s) / $4, (%2$s)::float8 from (
      select d.id, d.words, (%3$s)::float8 as score from (
        select f.id, f.words, %4$s * (1 - %5$s + %5$s * f.length / coalesce($5, f.length)) as k from (
          select w.id, w.words, lexemes_held(w.words) as length from (
            select w.id, setweight(w.words, ''D'') as words from (%6$s limit %7$s offset 0) w %9$s offset 0
          ) w offset 0
        ) f offset 0
      ) d order by 3 desc, 1 limit %8$s
    ) s order by 2 desc, 1 limit $8',
    (select string_agg(format('+ %s * least(1, 10 * ts_rank_cd(s.words, %L::tsquery))', nearness * n.weight, n.pair), ' ')
     from unnest((p_query).near, (p_query).near_weights) n (pair, weight)),
    (select string_agg(format('%s * (s.words @@ %L::tsquery)::int', w.share, quote_literal(w.word)), ' + ')
     from (
       select h.word, h.weight / sum(h.weight) over () as share from unnest((p_query).words, (p_query).weights) h (word, weight)
       order by h.weight desc, h.word limit max_covered
     ) w),
    (select string_agg(format('%s * (1 - d.k / (times_held(d.words, %L::tsquery) + d.k))',
      (k1 + 1) * w.weight, quote_literal(w.word)), ' + ')
     from unnest((p_query).words, (p_query).weights) w (word, weight)),
    k1, b, (
      select string_agg(format('select t.id, t.text_search as words from %s where %s %s', l.rows, l.held, condition), ' union all ')
      from (
        select of_best as rows, 't.text_search @@ $6' as held where best is not null
        union all
        select p_table || ' t', concat_ws(' and ', format('t.text_search @@ ($2)[%s]', w.place),
          (select string_agg(format('not t.text_search @@ ($2)[%s]', earlier), ' and ') from generate_series(1, w.place - 1) earlier),
          case when best is not null then 'not t.id = any($1)' end)
        from generate_series(1, cardinality(wanted)) w (place)
      ) l),
    rows_taken, least_ranked,
    case when is_tested then format('where w.words @@ $7 limit %s', rows_ranked) end)
    using best, wanted, p_fitting, (p_query).possible, (p_query).mean_length, coalesce(any_word && required, any_word), required, p_limit;
end
$_$;


--
-- Name: text_language(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.text_language(p_name text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
  select coalesce((
    select c.cfgname from pg_ts_config c
    where pg_ts_config_is_visible(c.oid) and c.cfgname in (n.name, (
      select k.language
      from unnest(
        '{ar,hy,eu,ca,da,nl,en,fi,fr,de,el,hi,hu,id,ga,it,lt,ne,no,nb,nn,pt,ro,ru,sr,es,sv,ta,tr,yi}'::text[],
        '{arabic,armenian,basque,catalan,danish,dutch,english,finnish,french,german,greek,hindi,hungarian,indonesian,irish,italian,
          lithuanian,nepali,norwegian,norwegian,norwegian,portuguese,romanian,russian,serbian,spanish,swedish,tamil,turkish,
          yiddish}'::text[]) k (code, language)
      where k.code = substring(n.name from '^([a-z]{2})([-_].*)?$')))
    order by c.cfgname = n.name desc limit 1), 'simple')
  from (select lower(btrim(p_name)) as name) n
$_$;


--
-- Name: text_of_html(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.text_of_html(p_html text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
declare
  v_text text := p_html;
  v_names constant text := 'quot 34 apos 39 lt 60 gt 62 nbsp 160 iexcl 161 cent 162 pound 163 curren 164 yen 165 brvbar 166 sect 167 uml 168 copy 169 ordf 170 laquo 171 not 172
    shy 173 reg 174 macr 175 deg 176 plusmn 177 sup2 178 sup3 179 acute 180 micro 181 para 182 middot 183 cedil 184 sup1 185 ordm 186 raquo 187 frac14 188
    frac12 189 frac34 190 iquest 191 Agrave 192 Aacute 193 Acirc 194 Atilde 195 Auml 196 Aring 197 AElig 198 Ccedil 199 Egrave 200 Eacute 201 Ecirc 202
    Euml 203 Igrave 204 Iacute 205 Icirc 206 Iuml 207 ETH 208 Ntilde 209 Ograve 210 Oacute 211 Ocirc 212 Otilde 213 Ouml 214 times 215 Oslash 216 Ugrave
    217 Uacute 218 Ucirc 219 Uuml 220 Yacute 221 THORN 222 szlig 223 agrave 224 aacute 225 acirc 226 atilde 227 auml 228 aring 229 aelig 230 ccedil 231
    egrave 232 eacute 233 ecirc 234 euml 235 igrave 236 iacute 237 icirc 238 iuml 239 eth 240 ntilde 241 ograve 242 oacute 243 ocirc 244 otilde 245 ouml
    246 divide 247 oslash 248 ugrave 249 uacute 250 ucirc 251 uuml 252 yacute 253 thorn 254 yuml 255 OElig 338 oelig 339 Scaron 352 scaron 353 Yuml 376
    fnof 402 circ 710 tilde 732 Alpha 913 Beta 914 Gamma 915 Delta 916 Epsilon 917 Zeta 918 Eta 919 Theta 920 Iota 921 Kappa 922 Lambda 923 Mu 924 Nu 925
    Xi 926 Omicron 927 Pi 928 Rho 929 Sigma 931 Tau 932 Upsilon 933 Phi 934 Chi 935 Psi 936 Omega 937 alpha 945 beta 946 gamma 947 delta 948 epsilon 949
    zeta 950 eta 951 theta 952 iota 953 kappa 954 lambda 955 mu 956 nu 957 xi 958 omicron 959 pi 960 rho 961 sigmaf 962 sigma 963 tau 964 upsilon 965 phi
    966 chi 967 psi 968 omega 969 thetasym 977 upsih 978 piv 982 ensp 8194 emsp 8195 thinsp 8201 zwnj 8204 zwj 8205 lrm 8206 rlm 8207 ndash 8211 mdash
    8212 lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221 bdquo 8222 dagger 8224 Dagger 8225 bull 8226 hellip 8230 permil 8240 prime 8242 Prime 8243
    lsaquo 8249 rsaquo 8250 oline 8254 frasl 8260 euro 8364 image 8465 weierp 8472 real 8476 trade 8482 alefsym 8501 larr 8592 uarr 8593 rarr 8594 darr
    8595 harr 8596 crarr 8629 lArr 8656 uArr 8657 rArr 8658 dArr 8659 hArr 8660 forall 8704 part 8706 exist 8707 empty 8709 nabla 8711 isin 8712 notin
    8713 ni 8715 prod 8719 sum 8721 minus 8722 lowast 8727 radic 8730 prop 8733 infin 8734 ang 8736 and 8743 or 8744 cap 8745 cup 8746 int 8747 there4
    8756 sim 8764 cong 8773 asymp 8776 ne 8800 equiv 8801 le 8804 ge 8805 sub 8834 sup 8835 nsub 8836 sube 8838 supe 8839 oplus 8853 otimes 8855 perp 8869
    sdot 8901 lceil 8968 rceil 8969 lfloor 8970 rfloor 8971 lang 9001 rang 9002 loz 9674 spades 9824 clubs 9827 hearts 9829 diams 9830';
  v_found text;
  v_code int;
begin
  if p_html !~ '[<&]' then
    return p_html;
  end if;
  -- non-greedy from the first quantifier on, which decides for the whole expression
  v_text := regexp_replace(v_text, '<!--.*?-->', ' ', 'g');
  v_text := regexp_replace(v_text, '<(script|style|template|head|noscript|title|svg|math|iframe|object)(?:\s[^<>]*?)?>.*?</\1\s*>', ' ', 'gi');
  -- what is never closed is never shown
  v_text := regexp_replace(v_text, '<!--.*', ' ', 'g');
  v_text := regexp_replace(v_text, '<(script|style|template)(\s[^<>]*)?>.*', ' ', 'gi');
  v_text := regexp_replace(v_text, '<![a-z\[][^<>]*>|<\?[^<>]*>', ' ', 'gi');
  v_text := regexp_replace(v_text, '</?(address|article|aside|blockquote|br|caption|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|legend|li|main|nav|ol|optgroup|option|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul)(\s([^<>"'']|"[^"]*"|''[^'']*'')*)?/?>', E'\n', 'gi');
  v_text := regexp_replace(v_text, '</?(td|th)(\s([^<>"'']|"[^"]*"|''[^'']*'')*)?/?>', ' ', 'gi');
  v_text := regexp_replace(v_text, '</?(a|abbr|acronym|area|audio|b|base|basefont|bdi|bdo|big|body|button|canvas|center|cite|code|col|colgroup|data|datalist|del|dfn|dialog|em|embed|font|frame|frameset|head|html|i|iframe|img|input|ins|kbd|label|link|map|mark|meta|meter|noscript|o:p|object|output|param|picture|progress|q|rp|rt|ruby|s|samp|select|small|source|span|strike|strong|sub|sup|textarea|time|title|track|tt|u|var|video|wbr)(\s([^<>"'']|"[^"]*"|''[^'']*'')*)?/?>', '', 'gi');
  for v_found in select distinct (regexp_matches(v_text, '&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,9});', 'g'))[1] loop
    v_code := case
      when v_found ~* '^#x' then ('x' || lpad(substr(v_found, 3), 8, '0'))::bit(32)::int
      when v_found like '#%' then substr(v_found, 2)::int
      else (regexp_split_to_array(v_names, '\s+'))[array_position(regexp_split_to_array(v_names, '\s+'), v_found) + 1]::int
    end;
    if v_code between 1 and 55295 or v_code between 57344 and 1114111 then
      v_text := replace(v_text, '&' || v_found || ';', case v_code when 160 then ' ' else chr(v_code) end);
    end if;
  end loop;
  -- last, so that nothing is decoded twice
  v_text := replace(v_text, '&amp;', '&');
  v_text := regexp_replace(v_text, '[ \t\r\f]+', ' ', 'g');
  return btrim(regexp_replace(v_text, ' ?\n[ \n]*', E'\n', 'g'), E' \n');
end
$$;


--
-- Name: text_words(regconfig, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.text_words(p_language regconfig, p_text text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case
    when octet_length(p_text) = length(p_text) then to_tsvector(p_language, p_text)
    when has_paired_letters(p_text) then single_letters(p_text) || (
      select (unaccented(to_tsvector(p_language, t.paired)::text) || ' ' || to_tsvector(p_language, unaccented(t.paired))::text)::tsvector
      from paired_letters(p_text) t (paired))
    else (unaccented(to_tsvector(p_language, p_text)::text) || ' ' || to_tsvector(p_language, unaccented(p_text))::text)::tsvector end
$$;


--
-- Name: times_held(tsvector, tsquery); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.times_held(p_words tsvector, p_word tsquery) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((0.67545)::double precision / ((1.013203)::double precision - ((10)::double precision * ts_rank(p_words, p_word)))) - (0.66665)::double precision);


--
-- Name: title_runs(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.title_runs(title text) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select btrim(title)
  union
  select array_to_string(h.words[n.first:], ' ')
  from regexp_split_to_table(title, '\s*[,;/|()&–—]+\s*|\s+-\s+|\s+and\s+', 'i') part (text),
    lateral (select string_to_array(regexp_replace(btrim(part.text), '\s+(of|at|in|for|to|on)\s.*$', '', 'i'), ' ') as words) h,
    lateral generate_series(greatest(1, cardinality(h.words) - 4), cardinality(h.words)) n (first)
$_$;


--
-- Name: unaccented(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.unaccented(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when octet_length(p_text) = length(p_text) then p_text else normalize(regexp_replace(normalize(
    translate(replace(replace(replace(p_text, 'œ', 'oe'), 'æ', 'ae'), 'ß', 'ss'), 'øłđðı', 'olddi'), nfd), '[\u0300-\u036f]+', '', 'g'), nfc) end
$$;


--
-- Name: title_words(text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.title_words(p_title text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_tsvector('simple'::regconfig, quarry.unaccented(lower(quarry.paired_letters("left"(p_title, 300)))));


--
-- Name: title_words_like(regclass, text, text, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.title_words_like(p_table regclass, p_titles text, p_seen text, p_word text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET "pg_trgm.word_similarity_threshold" TO '0.4'
    SET enable_seqscan TO 'off'
    AS $_$
declare
  shortest constant int := 4;
  longest_one_slip constant int := 5;
  same_letters constant int := 2;
  most constant int := 4;
  max_rows constant int := 1000;
  slips constant int := case when length(p_word) <= longest_one_slip then 1 else 2 end;
  likely text[];
begin
  if length(p_word) < shortest or has_paired_letters(p_word) then
    return '{}';
  end if;
  execute format('
    select array_agg(b.beginning)
    from (
      select left(w.word, length($1)) as beginning
      from (%1$s union all
        select u.lexeme, count(*) from (select %2$s as titles from %3$s t where %2$s @@ $4 %4$s limit %5$s) s, unnest(s.titles) u
        where starts_with(u.lexeme, $5) group by 1) w (word, rows), lateral (
        select min(levenshtein_less_equal(left(w.word, length($1) + d.more), $1, $2)) as slips from generate_series(-1, 1) d (more)) s
      where s.slips <= $2
      group by 1 order by min(s.slips), sum(w.rows) desc, 1 limit %6$s
    ) b',
    case when p_seen is null then 'select c.lexeme, c.rows from lexeme_counts c where $1 <% c.lexeme and c.of_table = $3' else 'select null::text, 0' end,
    p_titles, p_table, 'and (' || p_seen || ')', max_rows, most)
    into likely using p_word, slips, p_table::text, (quote_literal(left(p_word, same_letters)) || ':*')::tsquery, left(p_word, same_letters);
  return coalesce(likely, '{}');
end
$_$;


--
-- Name: transcript_segments_values(); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.transcript_segments_values() RETURNS TABLE(facet text, scope text, value text, row_count integer)
    LANGUAGE sql STABLE
    AS $$
    select w.facet, w.scope, w.value, sum(w.change)::int from (
      select 1, v.facet, '', v.value from transcript_segments t, lateral (select distinct a.* from (
        select 'speaker', t.speaker_name
        union all select 'speaker_role', title_runs(t.speaker_role)
      ) a (facet, value)) v (facet, value)
      union all
      select 1, v.facet, '', v.value from transcript_segments t join meetings r on r.id = t.meeting_id, lateral (select distinct a.* from (
        select 'body', r.body
      ) a (facet, value)) v (facet, value)
    ) w (change, facet, scope, value) where length(w.value) <= 200
    group by w.facet, w.scope, w.value having sum(w.change) <> 0
$$;


--
-- Name: unspoken_words(text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.unspoken_words(p_words text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $$
declare
  max_words constant int := 64;
begin
  return array(
    select u.word
    from unnest(p_words[:max_words]) with ordinality u (word, place), plainto_tsquery('english', u.word) q
    where numnode(q) > 0
      and not exists (select from lexeme_counts c where c.of_table = 'companies' and c.lexeme = btrim(q::text, '''') offset 0)
      and not exists (select from companies t where t.text_search @@ q)
      and not exists (select from companies t where t.niches_search @@ q)
    order by u.place);
end
$$;


--
-- Name: unwritten(text[], text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.unwritten(p_tables text[], p_words text[], p_seen text[] DEFAULT '{}'::text[]) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    AS $_$
declare
  words text[] := p_words;
begin
  for place in 1 .. coalesce(cardinality(p_tables), 0) loop
    execute format('select array(select w.word from unnest($1) w (word)'
      ' where not exists (select from %s t where t.text_search @@ quote_literal(w.word)::tsquery and (%s)))',
      p_tables[place]::regclass, coalesce(p_seen[place], 'true'))
      into words using words;
    exit when words = '{}';
  end loop;
  return words;
end
$_$;


--
-- Name: vector_candidates(regclass, regclass, public.halfvec, integer, text, tsquery, text, text[], boolean); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.vector_candidates(p_table regclass, p_embeddings regclass, p_embedding public.halfvec, p_limit integer, p_filter text DEFAULT NULL::text, p_required tsquery DEFAULT NULL::tsquery, p_embedding_type text DEFAULT NULL::text, p_fitting text[] DEFAULT NULL::text[], p_fits_many boolean DEFAULT false) RETURNS TABLE(id text, similarity double precision)
    LANGUAGE plpgsql STABLE
    SET work_mem TO '32MB'
    SET enable_seqscan TO 'on'
    SET "hnsw.ef_search" TO '128'
    SET "hnsw.iterative_scan" TO 'relaxed_order'
    SET "hnsw.max_scan_tuples" TO '2500'
    SET synchronize_seqscans TO 'off'
    AS $_$
declare
  max_in_vain constant int := 500;
  max_looked_at int := greatest(2500, 25 * p_limit);
  max_few constant int := greatest(2000, 40 * p_limit);  -- as expensive as the walk, and complete
  -- long texts have several adjacent vectors
  windows_per_row constant float8 := 1 + 1.5 * least(3, greatest(0, (
    select e.reltuples / t.reltuples - 1 from pg_class e, pg_class t where e.oid = p_embeddings and t.oid = p_table and t.reltuples > 0)));
  wanted constant int := ceil(p_limit * coalesce(windows_per_row, 1));
  -- as a literal: otherwise the planner cannot use a partial index
  kind constant text := case when p_embedding_type is not null then format('e.embedding_type = %L', p_embedding_type) end;
  required constant text := case when numnode(p_required) > 0 then 't.text_search @@ $3' end;
  conditions constant text := concat_ws(' and ',
    -- not `any`: the planner would estimate it id by id and, as a condition of the index, sort the ids for each row
    coalesce('(' || p_filter || ')', case when p_fitting is not null then 't.id in (select unnest($4)) is true' end), required);
  few text[];
begin
  if p_embedding is null then
    return;
  end if;
  few := p_fitting;
  if few is null and p_filter is not null and not p_fits_many then
    execute format('select array(select t.id from %s t where %s limit %s)', p_table, p_filter, max_few + 1) into few;
  end if;
  few := case when cardinality(few) <= max_few then few end;
  if conditions <> '' then
    if querytree(p_required) = 'T' and p_required::text !~ '<|\([^)]*&' then
      max_looked_at := max_in_vain + (max_looked_at - max_in_vain) * least(1, max_looked_at / wanted::float8 * exp((
        select coalesce(sum(ln(greatest(0.5, t.rows - c.rows)::float8 / greatest(1, t.rows))), 0)
        from text_totals t join lexeme_counts c using (of_table)
        where t.of_table = p_table::text and c.lexeme = any(array(
          select replace(m.word[1], '''''', '''') from regexp_matches(p_required::text, $re$'((?:[^']|'')+)'$re$, 'g') m (word))))));
    end if;
    -- for this call only: the function's own setting is restored after it
    perform set_config('hnsw.max_scan_tuples', max_looked_at::text, true);
  end if;

  return query execute format(
    'select w.id, 1 - min(w.distance) from (select e.record_id as id, e.embedding <=> $1 as distance from %s e %s) w'
    ' group by w.id order by min(w.distance), 1 limit $2',
    p_embeddings, case
      when few is not null and required is null then concat_ws(' and ', 'where e.record_id = any ($4)', kind)
      when few is not null then
        concat_ws(' and ', format('join %s t on t.id = e.record_id where t.id = any ($4)', p_table), required, kind)
      -- row by row along the index, not by a plan that tests the whole table first
      else concat(
        case when conditions <> '' then
          format('cross join lateral (select from %s t where t.id = e.record_id and %s offset 0) t', p_table, conditions) end,
        ' where ' || kind, ' order by e.embedding <=> $1 limit ', wanted) end)
    using p_embedding, p_limit, p_required, coalesce(few, p_fitting);
end
$_$;


--
-- Name: forgotten; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.forgotten (
    kind text NOT NULL,
    id_hash text NOT NULL,
    forgotten_at timestamp with time zone DEFAULT now() NOT NULL,
    rows jsonb NOT NULL,
    domain text
);


--
-- Name: was_forgotten(text, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.was_forgotten(p_kind text, p_id text) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN (EXISTS (SELECT FROM quarry.forgotten f WHERE ((f.id_hash = quarry.id_hash(was_forgotten.p_id)) AND (f.kind = was_forgotten.p_kind) AND (f.forgotten_at > (now() - '1 day'::interval)))));


--
-- Name: weigh_query(text[], text, boolean, integer, regconfig, text[], regconfig[], text[], text[]); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.weigh_query(p_tables text[], p_query text, p_strict boolean DEFAULT false, p_max_words integer DEFAULT 24, p_language regconfig DEFAULT NULL::regconfig, p_others text[] DEFAULT '{}'::text[], p_other_languages regconfig[] DEFAULT '{}'::regconfig[], p_seen text[] DEFAULT '{}'::text[], p_others_seen text[] DEFAULT '{}'::text[]) RETURNS quarry.weighed_query
    LANGUAGE plpgsql STABLE
    SET "pg_trgm.similarity_threshold" TO '0.3'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
declare
  max_characters constant int := 4000;
  most_said constant int := 4;
  shortest_misspelt constant int := 4;
  shortest_begun constant int := 2;
  longest_one_slip constant int := 5;
  max_misspelt constant int := 8;
  max_pairs constant int := 8;
  saturation constant float8 := 2.2;  -- k1 + 1 of BM25, see text_candidates
  short_query constant int := 3;  -- words
  max_seen constant int := 500;
  max_seen_words constant int := 60;  -- the first words of a query
  of_all constant text[] := array(
    select t.name from unnest(p_tables) with ordinality t (name, place) where p_seen[t.place] is null order by t.place);
  is_all constant boolean := cardinality(of_all) = cardinality(p_tables);
  asked record := read_query(p_query, p_language);
  begun constant text := case when cardinality(asked.words) <= short_query then asked.words[cardinality(asked.words)] end;
  said tsvector := said_words(p_language, left(p_query, max_characters));
  total float8;
  mean_length float8;
  unknown text[];
  elsewhere text[];
  unknown_there text[];
  seen record;
  looked_in text[] := of_all;
  looked_at text[] := array_fill(null::text, array[cardinality(of_all)]);
  known_words text[] := '{}';  -- in visible rows,
  known_rows int[] := '{}';  -- and the number of these rows with each
  weighed weighed_query;
begin
  if numnode(asked.all_words) = 0 then
    return null;
  end if;
  if cardinality(asked.words) > p_max_words then
    -- for this call only: the function's own setting is restored after it
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  select coalesce(sum(t.rows), 0), coalesce(sum(t.lexemes), 0) into total, mean_length from text_totals t where t.of_table = any(of_all);
  if not is_all then
    asked.words := asked.words[:max_seen_words];
    for place in 1 .. cardinality(p_tables) loop
      continue when p_seen[place] is null;
      seen := seen_words(p_tables[place], p_seen[place], asked.words, max_seen);
      total := total + seen.rows;
      mean_length := mean_length + seen.lexemes;
      known_words := known_words || asked.words;
      known_rows := known_rows || seen.held;
      if seen.rows = max_seen then  -- there may be more
        looked_in := looked_in || p_tables[place];
        looked_at := looked_at || p_seen[place];
      end if;
    end loop;
  end if;
  total := greatest(1, total);
  mean_length := nullif(mean_length, 0) / total;

  unknown := array(
    select w.word from unnest(asked.words) with ordinality w (word, place)
    where (length(w.word) >= shortest_misspelt or w.word = lower(btrim(p_query)) and w.word ~ '^[[:alpha:]]+$' and length(w.word) >= shortest_begun)
      and not has_paired_letters(w.word)  -- a pair of letters is not a slip of another
      -- each word by its key, regardless of statistics, which the table lacks after a recount; the spelling index would also find equal
      -- words, at five times the cost, but not ranges
      and not exists (select from lexeme_counts c where c.lexeme between w.word and w.word and c.of_table = any(of_all) offset 0)
      and not exists (select from unnest(known_words, known_rows) k (word, rows) where k.word = w.word and k.rows > 0)
    order by w.place limit max_misspelt);
  if unknown <> '{}' then
    unknown := unwritten(looked_in, unknown, looked_at);
  end if;
  if unknown <> '{}' and p_others <> '{}' then
    select array_agg(k.lexeme), array_agg(l.lexeme) into elsewhere, unknown_there
    from regexp_matches(left(p_query, max_characters), '[^\s"]+', 'g') m (part), unnest(said_words(p_language, m.part[1])) l,
      unnest(p_other_languages) o (language), unnest(said_words(o.language, m.part[1])) k
    where l.lexeme = any(unknown);
    unknown := array(
      select u.word from unnest(unknown) u (word)
      where not u.word = any(array(
        select e.here from unnest(elsewhere, unknown_there) e (there, here)
        where not e.there = any(unwritten(p_others, elsewhere, p_others_seen)))));
  end if;
  if unknown <> '{}' and not is_all then
    select known_words || coalesce(array_agg(k.lexeme), '{}'), known_rows || coalesce(array_agg(k.rows), '{}') into known_words, known_rows
    from generate_subscripts(p_tables, 1) place, words_seen_like(p_tables[place], p_seen[place], unknown, case when begun = any(unknown) then begun end, max_seen) k
    where p_seen[place] is not null and not k.lexeme = any(asked.words);
  end if;

  with spelt as (
    select l.lexeme, l.positions, case when l.lexeme = any(unknown) then coalesce((
      select c.lexeme
      from (
        select c.lexeme, c.rows from lexeme_counts c
        where l.lexeme = begun and c.lexeme like regexp_replace(begun, '([\\%_])', '\\\1', 'g') || '%' and c.of_table = any(of_all)
        union all
        select k.lexeme, k.rows from unnest(known_words, known_rows) k (lexeme, rows)
        where l.lexeme = begun and starts_with(k.lexeme, begun) and k.rows > 0
      ) c
      group by c.lexeme order by sum(c.rows) desc, c.lexeme limit 1
    ), (
      select c.lexeme
      from (
        select c.lexeme, c.rows from lexeme_counts c where c.lexeme % l.lexeme and c.of_table = any(of_all)
        union all
        select k.lexeme, k.rows from unnest(known_words, known_rows) k (lexeme, rows) where k.lexeme % l.lexeme and k.rows > 0
      ) c, lateral (select levenshtein_less_equal(
        c.lexeme, l.lexeme, case when length(l.lexeme) <= longest_one_slip then 1 else 2 end) as slips) s
      where length(l.lexeme) >= shortest_misspelt and s.slips <= case when length(l.lexeme) <= longest_one_slip then 1 else 2 end
      group by c.lexeme having sum(c.rows) > 1
      order by ln(sum(c.rows)) + 4 * similarity(c.lexeme, l.lexeme) desc, c.lexeme limit 1))
    end as known
    from unnest(said) l where l.lexeme = any(asked.words)
  ), counted as (
    select w.word, least(most_said, sum(cardinality(w.positions))) as times, (
      select greatest(1, coalesce(sum(c.rows), 0)) from (
        select c.rows from lexeme_counts c where c.lexeme between w.word and w.word and c.of_table = any(of_all)
        union all
        select k.rows from unnest(known_words, known_rows) k (word, rows) where k.word = w.word) c) as df
    from (select coalesce(s.known, s.lexeme) as word, s.positions from spelt s) w
    group by w.word
  ), words as materialized (
    select c.word, c.df, c.times * i.idf as weight, i.idf
    from counted c, lateral (
      select ln(1 + greatest(0, coalesce(total, 1) - c.df + 0.5) / (c.df + 0.5))::float8 as idf) i
    order by 3 desc, 1 limit p_max_words
  ), placed as materialized (
    select w.word, w.idf, p.place
    from spelt s join words w on w.word = coalesce(s.known, s.lexeme), unnest(s.positions) p (place)
  ), beside as (
    select (quote_literal(least(a.word, b.word)) || ' & ' || quote_literal(greatest(a.word, b.word)))::tsquery as pair, least(a.idf, b.idf) as weight
    from placed a join placed b on b.place = a.place + 1 and b.word <> a.word
    group by 1, 2 order by 2 desc, 1 limit max_pairs
  ), quoted as (
    select p.phrase as pair, min(w.idf) as weight
    from unnest(asked.phrases) p (phrase) join words w on w.word = any(tsvector_to_array(to_tsvector('simple', p.phrase::text)))
    group by 1
  ), near as (
    select b.* from beside b
    union all
    select q.* from quoted q
  )
  select array_agg(w.word order by w.df, w.word), array_agg(w.weight order by w.df, w.word), mean_length, saturation * sum(w.weight),
    case when p_strict then asked.required else asked.excluded end, (select array_agg(n.pair order by n.weight desc, n.pair) from near n),
    (select array_agg(n.weight order by n.weight desc, n.pair) from near n)
  into weighed from words w;
  return weighed;
end
$_$;


--
-- Name: without_forgotten(jsonb, text); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.without_forgotten(p_turns jsonb, p_domain text) RETURNS jsonb
    LANGUAGE sql STABLE STRICT
    AS $$
  select coalesce(jsonb_agg(t.turn order by t.place), '[]')
  from jsonb_array_elements(p_turns) with ordinality t (turn, place)
  where not holds_forgotten(t.turn, p_domain)
$$;


--
-- Name: words_seen_like(text, text, text[], text, integer); Type: FUNCTION; Schema: quarry; Owner: -
--

CREATE FUNCTION quarry.words_seen_like(p_table text, p_seen text, p_words text[], p_begun text, p_rows integer) RETURNS TABLE(lexeme text, rows integer)
    LANGUAGE plpgsql STABLE
    SET synchronize_seqscans TO 'off'
    AS $_$
declare
  max_slips constant int := 2;
  max_lexemes constant int := 100000;
begin
  return query execute format(
    'select h.lexeme, h.rows from ('
    '  select u.lexeme, count(*)::int as rows'
    '  from (select u.lexeme from (select t.text_search from %s t where %s limit $3 offset 0) s, unnest(s.text_search) u limit $5) u'
    '  group by 1) h'
    ' where starts_with(h.lexeme, $2) or exists (select from unnest($1) w (word)'
    '   where abs(length(h.lexeme) - length(w.word)) <= $4 and levenshtein_less_equal(h.lexeme, w.word, $4) <= $4)',
    p_table::regclass, p_seen)
    using p_words, p_begun, p_rows, max_slips, max_lexemes;
end
$_$;


--
-- Name: agenda_item_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.agenda_item_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.agenda_item_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: agenda_items; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.agenda_items (
    id text NOT NULL,
    meeting_id text,
    matter_id text,
    item_number text,
    title text NOT NULL,
    description text,
    category text,
    date date,
    url text,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[title, description]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[title, description, category]))) STORED NOT NULL
);


--
-- Name: answer_cache; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.answer_cache (
    id text NOT NULL,
    query text NOT NULL,
    answer text NOT NULL,
    sources jsonb NOT NULL,
    suggested_followups text[] DEFAULT '{}'::text[] NOT NULL,
    source_count integer NOT NULL,
    confidence text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    owner text,
    question_key text,
    found_key text,
    record_hashes text[] DEFAULT '{}'::text[] NOT NULL,
    citations jsonb DEFAULT '[]'::jsonb NOT NULL,
    unsupported text[] DEFAULT '{}'::text[] NOT NULL,
    queries jsonb DEFAULT '[]'::jsonb NOT NULL,
    statements jsonb DEFAULT '[]'::jsonb NOT NULL,
    confidence_label text,
    shared boolean DEFAULT true NOT NULL,
    CONSTRAINT answer_cache_confidence_check CHECK ((confidence = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text])))
);


--
-- Name: campaign_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.campaign_embeddings (
    record_id text NOT NULL,
    embedding_type text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL,
    CONSTRAINT campaign_embeddings_embedding_type_check CHECK ((embedding_type = ANY (ARRAY['profile'::text, 'campaign_text'::text, 'offer'::text, 'key_value_props'::text])))
);
ALTER TABLE ONLY quarry.campaign_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: campaigns; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.campaigns (
    id text NOT NULL,
    company text NOT NULL,
    brand text,
    channel text NOT NULL,
    offer text,
    key_value_props text[] DEFAULT '{}'::text[] NOT NULL,
    imagery_sentiment text,
    imagery_visual_style text,
    capture_date date,
    campaign_text text NOT NULL,
    full_campaign_text text,
    url text,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[company, brand, channel, offer, quarry.joined_names(key_value_props), imagery_sentiment, imagery_visual_style, campaign_text, full_campaign_text]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[campaign_text, full_campaign_text]))) STORED NOT NULL
);


--
-- Name: collection_changes; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.collection_changes (
    collection smallint NOT NULL,
    key text,
    at timestamp with time zone DEFAULT now() NOT NULL,
    problem text
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='10000', autovacuum_analyze_scale_factor='0', autovacuum_analyze_threshold='10000');


--
-- Name: collection_rows; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.collection_rows (
    collection smallint NOT NULL,
    id text NOT NULL,
    scope text,
    text_search tsvector NOT NULL,
    row_hash text NOT NULL,
    content_hash text,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    language text,
    titles tsvector
)
PARTITION BY LIST (collection);


--
-- Name: collection_windows; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.collection_windows (
    collection smallint NOT NULL,
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
)
PARTITION BY LIST (collection);
ALTER TABLE ONLY quarry.collection_windows ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: collections; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.collections (
    id smallint NOT NULL,
    name text NOT NULL,
    source regclass NOT NULL,
    columns json NOT NULL,
    declaration json NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    reconciled_at timestamp with time zone,
    polled_to timestamp with time zone,
    problem text,
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    functions_hash text DEFAULT ''::text NOT NULL,
    document_keys json DEFAULT '{}'::json NOT NULL
);


--
-- Name: collections_id_seq; Type: SEQUENCE; Schema: quarry; Owner: -
--

ALTER TABLE quarry.collections ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quarry.collections_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: company_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.company_embeddings (
    record_id text NOT NULL,
    embedding_type text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.company_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: company_synonyms; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.company_synonyms (
    id text NOT NULL,
    said text NOT NULL,
    field text NOT NULL,
    value text NOT NULL,
    CONSTRAINT company_synonyms_field_check CHECK ((field = ANY (ARRAY['sector'::text, 'category'::text, 'business_model'::text, 'niche'::text])))
);


--
-- Name: conversations; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.conversations (
    id uuid NOT NULL,
    user_id text NOT NULL,
    domain text NOT NULL,
    title text NOT NULL,
    turns jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: credit_accounts; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.credit_accounts (
    user_id text NOT NULL,
    balance bigint NOT NULL,
    CONSTRAINT credit_accounts_balance_check CHECK ((balance >= 0))
);


--
-- Name: credit_ledger; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.credit_ledger (
    entry_number bigint NOT NULL,
    user_id text NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    reference text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT credit_ledger_amount_check CHECK ((amount <> 0)),
    CONSTRAINT credit_ledger_reason_check CHECK ((reason = ANY (ARRAY['initial'::text, 'grant'::text, 'search'::text, 'unlock'::text])))
);


--
-- Name: credit_ledger_entry_number_seq; Type: SEQUENCE; Schema: quarry; Owner: -
--

ALTER TABLE quarry.credit_ledger ALTER COLUMN entry_number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quarry.credit_ledger_entry_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: credits_spent; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.credits_spent (
    is_only boolean DEFAULT true NOT NULL,
    credits bigint NOT NULL,
    CONSTRAINT credits_spent_credits_check CHECK ((credits >= 0)),
    CONSTRAINT credits_spent_is_only_check CHECK (is_only)
);


--
-- Name: document_section_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.document_section_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.document_section_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: document_sections; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.document_sections (
    id text NOT NULL,
    meeting_id text,
    matter_id text,
    document_title text NOT NULL,
    document_type text,
    section_number integer,
    heading text,
    body text NOT NULL,
    date date,
    url text,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[document_title, heading, body]))) STORED NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[document_title, heading, body]))) STORED NOT NULL
);


--
-- Name: embedding_claims; Type: TABLE; Schema: quarry; Owner: -
--

CREATE UNLOGGED TABLE quarry.embedding_claims (
    table_name text NOT NULL,
    record_id text NOT NULL,
    claim uuid NOT NULL,
    claimed_until timestamp with time zone NOT NULL
);


--
-- Name: embedding_model; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.embedding_model (
    only_row boolean DEFAULT true NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedding_model_only_row_check CHECK (only_row)
);


--
-- Name: embedding_progress; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.embedding_progress (
    table_name text NOT NULL,
    completed_at timestamp with time zone NOT NULL
);


--
-- Name: experience_card_child_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.experience_card_child_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    card_id text NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.experience_card_child_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: experience_card_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.experience_card_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.experience_card_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: facet_values; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.facet_values (
    table_name text NOT NULL,
    facet text NOT NULL,
    scope text NOT NULL,
    value text NOT NULL,
    row_count integer DEFAULT 1 NOT NULL,
    phrase text GENERATED ALWAYS AS (quarry.phrase_key(quarry.folded_words(value))) STORED NOT NULL,
    stems text[] GENERATED ALWAYS AS (quarry.word_stems(quarry.folded_words(value))) STORED NOT NULL
)
WITH (fillfactor='80');


--
-- Name: facet_words; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.facet_words (
    table_name text NOT NULL,
    stem text NOT NULL,
    value_count integer DEFAULT 1 NOT NULL
);


--
-- Name: idempotency_keys; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.idempotency_keys (
    caller text NOT NULL,
    endpoint text NOT NULL,
    key text NOT NULL,
    body_hash text NOT NULL,
    claim uuid NOT NULL,
    claimed_until timestamp with time zone NOT NULL,
    response text,
    expires_at timestamp with time zone NOT NULL
);


--
-- Name: key_statement_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.key_statement_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.key_statement_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: key_statements; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.key_statements (
    id text NOT NULL,
    meeting_id text,
    agenda_item_id text,
    speaker_name text NOT NULL,
    speaker_role text,
    statement_text text NOT NULL,
    context text,
    stance text,
    date date,
    url text,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[statement_text, context]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[statement_text, context, speaker_name, speaker_role]))) STORED NOT NULL
);


--
-- Name: lexeme_counts; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.lexeme_counts (
    lexeme text NOT NULL,
    of_table text NOT NULL,
    rows integer NOT NULL,
    best_rows text[]
);


--
-- Name: loaded_files; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.loaded_files (
    table_schema text NOT NULL,
    table_name text NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL,
    rows bigint NOT NULL,
    loaded_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: loaded_samples; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.loaded_samples (
    domain text NOT NULL,
    sha256 text NOT NULL,
    loaded_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: matter_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.matter_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.matter_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: matters; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.matters (
    id text NOT NULL,
    title text NOT NULL,
    matter_type text,
    status text,
    summary text,
    sponsors text[] DEFAULT '{}'::text[] NOT NULL,
    introduced_on date,
    decided_on date,
    meeting_id text,
    date date,
    url text,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[title, summary]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[title, summary, matter_type, status, quarry.joined_names(sponsors)]))) STORED NOT NULL
);


--
-- Name: meetings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.meetings (
    id text NOT NULL,
    body text NOT NULL,
    title text NOT NULL,
    date date NOT NULL,
    started_at text,
    location text,
    attendees text[] DEFAULT '{}'::text[] NOT NULL,
    summary text,
    video_url text,
    minutes_url text
);


--
-- Name: motion_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.motion_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.motion_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: motions; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.motions (
    id text NOT NULL,
    meeting_id text,
    agenda_item_id text,
    matter_id text,
    text_content text NOT NULL,
    plain_english_summary text,
    result text,
    mover text,
    seconder text,
    votes_for text[] DEFAULT '{}'::text[] NOT NULL,
    votes_against text[] DEFAULT '{}'::text[] NOT NULL,
    abstained text[] DEFAULT '{}'::text[] NOT NULL,
    date date,
    url text,
    content_hash text GENERATED ALWAYS AS (md5(quarry.joined_text(VARIADIC ARRAY[plain_english_summary, text_content]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    outcome text GENERATED ALWAYS AS ("substring"(result, '(?i)^(?:(?:the|this|motion|item|resolution|amendment|bill|vote|was|is|were) +)*([[:alpha:]]+)'::text)) STORED,
    tally text[] GENERATED ALWAYS AS (array_remove(ARRAY["substring"(result, '\d+ ?(?:to|[-–:]) ?\d+'::text), regexp_replace("substring"(result, '\d+ ?(?:to|[-–:]) ?\d+'::text), ' ?(?:to|[-–:]) ?'::text, ' to '::text)], NULL::text)) STORED,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[plain_english_summary, text_content, result, mover, seconder, quarry.joined_names(votes_for), quarry.joined_names(votes_against), quarry.joined_names(abstained)]))) STORED NOT NULL
);


--
-- Name: onto_documents; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_documents (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    title text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(title), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_documents_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_goals; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_goals (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    name text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(name), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_goals_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_milestones; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_milestones (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    title text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(title), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_milestones_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_outputs; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_outputs (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    name text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(name), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_outputs_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_plans; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_plans (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    name text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(name), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_plans_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_requirements; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_requirements (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    text text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(text), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_requirements_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_tasks; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_tasks (
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    title text NOT NULL,
    props jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone,
    updated_at timestamp with time zone,
    search_vector tsvector GENERATED ALWAYS AS ((setweight(quarry.english_words(title), 'A'::"char") || setweight(quarry.english_words_of_json(props), 'B'::"char"))) STORED NOT NULL,
    CONSTRAINT onto_tasks_props_check CHECK ((jsonb_typeof(props) = 'object'::text))
);


--
-- Name: onto_entities; Type: VIEW; Schema: quarry; Owner: -
--

CREATE VIEW quarry.onto_entities WITH (security_invoker='true') AS
 SELECT 'task'::text AS type,
    onto_tasks.id,
    onto_tasks.project_id,
    onto_tasks.created_by,
    onto_tasks.title,
    onto_tasks.props,
    onto_tasks.created_at,
    onto_tasks.updated_at
   FROM quarry.onto_tasks
UNION ALL
 SELECT 'plan'::text AS type,
    onto_plans.id,
    onto_plans.project_id,
    onto_plans.created_by,
    onto_plans.name AS title,
    onto_plans.props,
    onto_plans.created_at,
    onto_plans.updated_at
   FROM quarry.onto_plans
UNION ALL
 SELECT 'goal'::text AS type,
    onto_goals.id,
    onto_goals.project_id,
    onto_goals.created_by,
    onto_goals.name AS title,
    onto_goals.props,
    onto_goals.created_at,
    onto_goals.updated_at
   FROM quarry.onto_goals
UNION ALL
 SELECT 'milestone'::text AS type,
    onto_milestones.id,
    onto_milestones.project_id,
    onto_milestones.created_by,
    onto_milestones.title,
    onto_milestones.props,
    onto_milestones.created_at,
    onto_milestones.updated_at
   FROM quarry.onto_milestones
UNION ALL
 SELECT 'document'::text AS type,
    onto_documents.id,
    onto_documents.project_id,
    onto_documents.created_by,
    onto_documents.title,
    onto_documents.props,
    onto_documents.created_at,
    onto_documents.updated_at
   FROM quarry.onto_documents
UNION ALL
 SELECT 'output'::text AS type,
    onto_outputs.id,
    onto_outputs.project_id,
    onto_outputs.created_by,
    onto_outputs.name AS title,
    onto_outputs.props,
    onto_outputs.created_at,
    onto_outputs.updated_at
   FROM quarry.onto_outputs
UNION ALL
 SELECT 'requirement'::text AS type,
    onto_requirements.id,
    onto_requirements.project_id,
    onto_requirements.created_by,
    onto_requirements.text AS title,
    onto_requirements.props,
    onto_requirements.created_at,
    onto_requirements.updated_at
   FROM quarry.onto_requirements;


--
-- Name: onto_projects; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_projects (
    id text NOT NULL,
    created_by text NOT NULL,
    name text NOT NULL,
    description text
);


--
-- Name: onto_search_entries; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.onto_search_entries (
    type text NOT NULL,
    id text NOT NULL,
    project_id text NOT NULL,
    created_by text NOT NULL,
    title text NOT NULL,
    search_vector tsvector NOT NULL,
    readable_text text NOT NULL
);


--
-- Name: quarry_functions; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.quarry_functions (
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: quarry_migrations; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.quarry_migrations (
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: rate_windows; Type: TABLE; Schema: quarry; Owner: -
--

CREATE UNLOGGED TABLE quarry.rate_windows (
    caller text NOT NULL,
    route_class text NOT NULL,
    window_start timestamp with time zone NOT NULL,
    requests integer NOT NULL
);


--
-- Name: run_events; Type: TABLE; Schema: quarry; Owner: -
--

CREATE UNLOGGED TABLE quarry.run_events (
    run_id uuid NOT NULL,
    number integer NOT NULL,
    event text NOT NULL
);


--
-- Name: run_streams; Type: TABLE; Schema: quarry; Owner: -
--

CREATE UNLOGGED TABLE quarry.run_streams (
    run_id uuid NOT NULL,
    caller text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    written_at timestamp with time zone DEFAULT now() NOT NULL,
    read_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    is_over boolean DEFAULT false NOT NULL,
    domain text
);


--
-- Name: saved_search_results; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.saved_search_results (
    search_id uuid NOT NULL,
    result_type text NOT NULL,
    result_id text NOT NULL,
    shown_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: saved_searches; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.saved_searches (
    id uuid NOT NULL,
    user_id text NOT NULL,
    domain text NOT NULL,
    name text NOT NULL,
    query text NOT NULL,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: search_run_results; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.search_run_results (
    run_id uuid NOT NULL,
    rank integer NOT NULL,
    result_type text NOT NULL,
    result_id text NOT NULL,
    score double precision NOT NULL
);


--
-- Name: search_run_steps; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.search_run_steps (
    run_id uuid NOT NULL,
    step_number integer NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    started_ms double precision NOT NULL,
    duration_ms double precision NOT NULL,
    prompt_tokens integer DEFAULT 0 NOT NULL,
    completion_tokens integer DEFAULT 0 NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    reason text,
    CONSTRAINT search_run_steps_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'degraded'::text, 'failed'::text])))
);


--
-- Name: search_runs; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.search_runs (
    id uuid NOT NULL,
    domain text NOT NULL,
    caller text NOT NULL,
    query text NOT NULL,
    status text NOT NULL,
    end_reason text,
    started_at timestamp with time zone NOT NULL,
    duration_ms double precision NOT NULL,
    chat_model text,
    prompt_tokens integer DEFAULT 0 NOT NULL,
    completion_tokens integer DEFAULT 0 NOT NULL,
    degraded_steps text[] DEFAULT '{}'::text[] NOT NULL,
    request_id text,
    helpful boolean,
    feedback_reason text,
    feedback_at timestamp with time zone,
    request jsonb,
    answer_id text,
    iteration_count integer DEFAULT 0 NOT NULL,
    tool_call_count integer DEFAULT 0 NOT NULL,
    session_id text,
    CONSTRAINT search_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'abandoned'::text])))
);


--
-- Name: tenants; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.tenants (
    name text NOT NULL,
    schema_name text NOT NULL,
    release text,
    problem text,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    node text,
    requests_per_minute bigint,
    rows_max bigint,
    credits_max bigint,
    CONSTRAINT tenants_credits_max_check CHECK ((credits_max >= 0)),
    CONSTRAINT tenants_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tenants_node_check CHECK ((node <> ''::text)),
    CONSTRAINT tenants_requests_per_minute_check CHECK ((requests_per_minute >= 0)),
    CONSTRAINT tenants_rows_max_check CHECK ((rows_max >= 0))
);


--
-- Name: text_changes; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.text_changes (
    of_table text NOT NULL,
    id text NOT NULL
);


--
-- Name: text_totals; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.text_totals (
    of_table text NOT NULL,
    rows bigint NOT NULL,
    lexemes bigint NOT NULL,
    counted_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: transcript_segment_embeddings; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.transcript_segment_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY quarry.transcript_segment_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: transcript_segments; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.transcript_segments (
    id text NOT NULL,
    meeting_id text,
    agenda_item_id text,
    speaker_name text,
    speaker_role text,
    text_content text NOT NULL,
    start_seconds double precision,
    end_seconds double precision,
    date date,
    url text,
    content_hash text GENERATED ALWAYS AS (md5(text_content)) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL,
    text_search tsvector GENERATED ALWAYS AS (quarry.english_words(quarry.joined_text(VARIADIC ARRAY[text_content, speaker_name]))) STORED NOT NULL
);


--
-- Name: tuned_weights; Type: TABLE; Schema: quarry; Owner: -
--

CREATE TABLE quarry.tuned_weights (
    name text NOT NULL,
    weight double precision NOT NULL,
    stored_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tuned_weights_weight_check CHECK (((weight >= (0)::double precision) AND (weight <= (1)::double precision)))
);


--
-- Name: agenda_item_embeddings agenda_item_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.agenda_item_embeddings
    ADD CONSTRAINT agenda_item_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: agenda_items agenda_items_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.agenda_items
    ADD CONSTRAINT agenda_items_pkey PRIMARY KEY (id);


--
-- Name: answer_cache answer_cache_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.answer_cache
    ADD CONSTRAINT answer_cache_pkey PRIMARY KEY (id);


--
-- Name: campaign_embeddings campaign_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.campaign_embeddings
    ADD CONSTRAINT campaign_embeddings_pkey PRIMARY KEY (record_id, embedding_type, window_number);


--
-- Name: campaigns campaigns_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.campaigns
    ADD CONSTRAINT campaigns_pkey PRIMARY KEY (id);


--
-- Name: collection_rows collection_rows_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.collection_rows
    ADD CONSTRAINT collection_rows_pkey PRIMARY KEY (id, collection);


--
-- Name: collection_windows collection_windows_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.collection_windows
    ADD CONSTRAINT collection_windows_pkey PRIMARY KEY (record_id, window_number, collection);


--
-- Name: collections collections_name_key; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.collections
    ADD CONSTRAINT collections_name_key UNIQUE (name);


--
-- Name: collections collections_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.collections
    ADD CONSTRAINT collections_pkey PRIMARY KEY (id);


--
-- Name: companies companies_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.companies
    ADD CONSTRAINT companies_pkey PRIMARY KEY (id);


--
-- Name: company_embeddings company_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.company_embeddings
    ADD CONSTRAINT company_embeddings_pkey PRIMARY KEY (record_id, embedding_type, window_number);


--
-- Name: company_synonyms company_synonyms_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.company_synonyms
    ADD CONSTRAINT company_synonyms_pkey PRIMARY KEY (id);


--
-- Name: contact_unlocks contact_unlocks_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.contact_unlocks
    ADD CONSTRAINT contact_unlocks_pkey PRIMARY KEY (user_id, person_id);


--
-- Name: conversations conversations_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (id);


--
-- Name: credit_accounts credit_accounts_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.credit_accounts
    ADD CONSTRAINT credit_accounts_pkey PRIMARY KEY (user_id);


--
-- Name: credit_ledger credit_ledger_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.credit_ledger
    ADD CONSTRAINT credit_ledger_pkey PRIMARY KEY (entry_number);


--
-- Name: credit_ledger credit_ledger_user_id_reason_reference_key; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.credit_ledger
    ADD CONSTRAINT credit_ledger_user_id_reason_reference_key UNIQUE (user_id, reason, reference);


--
-- Name: credits_spent credits_spent_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.credits_spent
    ADD CONSTRAINT credits_spent_pkey PRIMARY KEY (is_only);


--
-- Name: document_section_embeddings document_section_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.document_section_embeddings
    ADD CONSTRAINT document_section_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: document_sections document_sections_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.document_sections
    ADD CONSTRAINT document_sections_pkey PRIMARY KEY (id);


--
-- Name: embedding_claims embedding_claims_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.embedding_claims
    ADD CONSTRAINT embedding_claims_pkey PRIMARY KEY (table_name, record_id);


--
-- Name: embedding_model embedding_model_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.embedding_model
    ADD CONSTRAINT embedding_model_pkey PRIMARY KEY (only_row);


--
-- Name: embedding_progress embedding_progress_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.embedding_progress
    ADD CONSTRAINT embedding_progress_pkey PRIMARY KEY (table_name);


--
-- Name: experience_card_child_embeddings experience_card_child_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_child_embeddings
    ADD CONSTRAINT experience_card_child_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: experience_card_children experience_card_children_id_card_id_key; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_children
    ADD CONSTRAINT experience_card_children_id_card_id_key UNIQUE (id, card_id);


--
-- Name: experience_card_children experience_card_children_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_children
    ADD CONSTRAINT experience_card_children_pkey PRIMARY KEY (id);


--
-- Name: experience_card_embeddings experience_card_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_embeddings
    ADD CONSTRAINT experience_card_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: experience_cards experience_cards_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_cards
    ADD CONSTRAINT experience_cards_pkey PRIMARY KEY (id);


--
-- Name: idempotency_keys idempotency_keys_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, endpoint, key);


--
-- Name: key_statement_embeddings key_statement_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.key_statement_embeddings
    ADD CONSTRAINT key_statement_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: key_statements key_statements_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.key_statements
    ADD CONSTRAINT key_statements_pkey PRIMARY KEY (id);


--
-- Name: lexeme_counts lexeme_counts_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.lexeme_counts
    ADD CONSTRAINT lexeme_counts_pkey PRIMARY KEY (lexeme, of_table);


--
-- Name: loaded_files loaded_files_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.loaded_files
    ADD CONSTRAINT loaded_files_pkey PRIMARY KEY (table_schema, table_name, digest);


--
-- Name: loaded_samples loaded_samples_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.loaded_samples
    ADD CONSTRAINT loaded_samples_pkey PRIMARY KEY (domain);


--
-- Name: matter_embeddings matter_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.matter_embeddings
    ADD CONSTRAINT matter_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: matters matters_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.matters
    ADD CONSTRAINT matters_pkey PRIMARY KEY (id);


--
-- Name: meetings meetings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.meetings
    ADD CONSTRAINT meetings_pkey PRIMARY KEY (id);


--
-- Name: motion_embeddings motion_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.motion_embeddings
    ADD CONSTRAINT motion_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: motions motions_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.motions
    ADD CONSTRAINT motions_pkey PRIMARY KEY (id);


--
-- Name: onto_documents onto_documents_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_documents
    ADD CONSTRAINT onto_documents_pkey PRIMARY KEY (id);


--
-- Name: onto_goals onto_goals_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_goals
    ADD CONSTRAINT onto_goals_pkey PRIMARY KEY (id);


--
-- Name: onto_milestones onto_milestones_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_milestones
    ADD CONSTRAINT onto_milestones_pkey PRIMARY KEY (id);


--
-- Name: onto_outputs onto_outputs_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_outputs
    ADD CONSTRAINT onto_outputs_pkey PRIMARY KEY (id);


--
-- Name: onto_plans onto_plans_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_plans
    ADD CONSTRAINT onto_plans_pkey PRIMARY KEY (id);


--
-- Name: onto_projects onto_projects_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_projects
    ADD CONSTRAINT onto_projects_pkey PRIMARY KEY (id);


--
-- Name: onto_requirements onto_requirements_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_requirements
    ADD CONSTRAINT onto_requirements_pkey PRIMARY KEY (id);


--
-- Name: onto_search_entries onto_search_entries_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_search_entries
    ADD CONSTRAINT onto_search_entries_pkey PRIMARY KEY (type, id);


--
-- Name: onto_tasks onto_tasks_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_tasks
    ADD CONSTRAINT onto_tasks_pkey PRIMARY KEY (id);


--
-- Name: people people_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);


--
-- Name: people_search_results people_search_results_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.people_search_results
    ADD CONSTRAINT people_search_results_pkey PRIMARY KEY (search_id, person_id);


--
-- Name: people_searches people_searches_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.people_searches
    ADD CONSTRAINT people_searches_pkey PRIMARY KEY (id);


--
-- Name: quarry_functions quarry_functions_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.quarry_functions
    ADD CONSTRAINT quarry_functions_pkey PRIMARY KEY (name);


--
-- Name: quarry_migrations quarry_migrations_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.quarry_migrations
    ADD CONSTRAINT quarry_migrations_pkey PRIMARY KEY (name);


--
-- Name: rate_windows rate_windows_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.rate_windows
    ADD CONSTRAINT rate_windows_pkey PRIMARY KEY (caller, route_class, window_start);


--
-- Name: run_events run_events_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.run_events
    ADD CONSTRAINT run_events_pkey PRIMARY KEY (run_id, number);


--
-- Name: run_streams run_streams_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.run_streams
    ADD CONSTRAINT run_streams_pkey PRIMARY KEY (run_id);


--
-- Name: saved_search_results saved_search_results_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.saved_search_results
    ADD CONSTRAINT saved_search_results_pkey PRIMARY KEY (search_id, result_type, result_id);


--
-- Name: saved_searches saved_searches_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.saved_searches
    ADD CONSTRAINT saved_searches_pkey PRIMARY KEY (id);


--
-- Name: search_run_results search_run_results_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.search_run_results
    ADD CONSTRAINT search_run_results_pkey PRIMARY KEY (run_id, rank);


--
-- Name: search_run_steps search_run_steps_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.search_run_steps
    ADD CONSTRAINT search_run_steps_pkey PRIMARY KEY (run_id, step_number);


--
-- Name: search_runs search_runs_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.search_runs
    ADD CONSTRAINT search_runs_pkey PRIMARY KEY (id);


--
-- Name: tenants tenants_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (name);


--
-- Name: tenants tenants_schema_name_key; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.tenants
    ADD CONSTRAINT tenants_schema_name_key UNIQUE (schema_name);


--
-- Name: text_totals text_totals_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.text_totals
    ADD CONSTRAINT text_totals_pkey PRIMARY KEY (of_table);


--
-- Name: transcript_segment_embeddings transcript_segment_embeddings_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.transcript_segment_embeddings
    ADD CONSTRAINT transcript_segment_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: transcript_segments transcript_segments_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.transcript_segments
    ADD CONSTRAINT transcript_segments_pkey PRIMARY KEY (id);


--
-- Name: tuned_weights tuned_weights_pkey; Type: CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.tuned_weights
    ADD CONSTRAINT tuned_weights_pkey PRIMARY KEY (name);


--
-- Name: agenda_item_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_item_embeddings_hnsw ON quarry.agenda_item_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: agenda_items_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_items_date ON quarry.agenda_items USING btree (date);


--
-- Name: agenda_items_matter_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_items_matter_id ON quarry.agenda_items USING btree (matter_id);


--
-- Name: agenda_items_meeting_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_items_meeting_id ON quarry.agenda_items USING btree (meeting_id);


--
-- Name: agenda_items_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_items_not_embedded ON quarry.agenda_items USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: agenda_items_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_items_text_search ON quarry.agenda_items USING gin (text_search) WITH (fastupdate=off);


--
-- Name: agenda_items_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX agenda_items_titles ON quarry.agenda_items USING gin (quarry.title_words(quarry.joined_text(VARIADIC ARRAY[title]))) WITH (fastupdate=off);


--
-- Name: answer_cache_expires_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX answer_cache_expires_at ON quarry.answer_cache USING btree (expires_at);


--
-- Name: answer_cache_question_key; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX answer_cache_question_key ON quarry.answer_cache USING btree (question_key, created_at DESC);


--
-- Name: campaign_embeddings_campaign_text; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaign_embeddings_campaign_text ON quarry.campaign_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128') WHERE (embedding_type = 'campaign_text'::text);


--
-- Name: campaign_embeddings_key_value_props; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaign_embeddings_key_value_props ON quarry.campaign_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128') WHERE (embedding_type = 'key_value_props'::text);


--
-- Name: campaign_embeddings_offer; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaign_embeddings_offer ON quarry.campaign_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128') WHERE (embedding_type = 'offer'::text);


--
-- Name: campaign_embeddings_profile; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaign_embeddings_profile ON quarry.campaign_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128') WHERE (embedding_type = 'profile'::text);


--
-- Name: campaigns_brand; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_brand ON quarry.campaigns USING btree (brand);


--
-- Name: campaigns_capture_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_capture_date ON quarry.campaigns USING btree (capture_date DESC NULLS LAST, id);


--
-- Name: campaigns_channel; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_channel ON quarry.campaigns USING btree (channel);


--
-- Name: campaigns_company; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_company ON quarry.campaigns USING btree (company);


--
-- Name: campaigns_imagery_sentiment; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_imagery_sentiment ON quarry.campaigns USING btree (imagery_sentiment);


--
-- Name: campaigns_imagery_visual_style; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_imagery_visual_style ON quarry.campaigns USING btree (imagery_visual_style);


--
-- Name: campaigns_key_value_props; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_key_value_props ON quarry.campaigns USING gin (key_value_props) WITH (fastupdate=off);


--
-- Name: campaigns_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_not_embedded ON quarry.campaigns USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: campaigns_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX campaigns_text_search ON quarry.campaigns USING gin (text_search) WITH (fastupdate=off);


--
-- Name: collection_rows_language; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX collection_rows_language ON ONLY quarry.collection_rows USING btree (language) WHERE (language IS NOT NULL);


--
-- Name: collection_rows_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX collection_rows_not_embedded ON ONLY quarry.collection_rows USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: collection_rows_scope; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX collection_rows_scope ON ONLY quarry.collection_rows USING btree (scope) WHERE (scope IS NOT NULL);


--
-- Name: collection_rows_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX collection_rows_text_search ON ONLY quarry.collection_rows USING gin (text_search) WITH (fastupdate=off);


--
-- Name: collection_rows_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX collection_rows_titles ON ONLY quarry.collection_rows USING gin (titles) WITH (fastupdate=off);


--
-- Name: collection_windows_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX collection_windows_hnsw ON ONLY quarry.collection_windows USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: companies_company_name_trigrams; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_company_name_trigrams ON quarry.companies USING gin (company_name public.gin_trgm_ops) WITH (fastupdate=off);


--
-- Name: companies_domain; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_domain ON quarry.companies USING btree (domain);


--
-- Name: companies_former_name_keys; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_former_name_keys ON quarry.companies USING gin (former_name_keys) WITH (fastupdate=off);


--
-- Name: companies_founded_year; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_founded_year ON quarry.companies USING btree (founded_year DESC NULLS LAST, id);


--
-- Name: companies_funding_stage; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_funding_stage ON quarry.companies USING btree (funding_stage);


--
-- Name: companies_hq_city; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_hq_city ON quarry.companies USING btree (lower(hq_city));


--
-- Name: companies_hq_country; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_hq_country ON quarry.companies USING btree (lower(hq_country));


--
-- Name: companies_name_key; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_name_key ON quarry.companies USING btree (name_key);


--
-- Name: companies_niches_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_niches_search ON quarry.companies USING gin (niches_search) WITH (fastupdate=off);


--
-- Name: companies_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_not_embedded ON quarry.companies USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: companies_status; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_status ON quarry.companies USING btree (status, id);


--
-- Name: companies_taxonomy_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_taxonomy_search ON quarry.companies USING gin (taxonomy_search) WITH (fastupdate=off);


--
-- Name: companies_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_text_search ON quarry.companies USING gin (text_search) WITH (fastupdate=off);


--
-- Name: companies_website_url_trigrams; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX companies_website_url_trigrams ON quarry.companies USING gin (website_url public.gin_trgm_ops) WITH (fastupdate=off);


--
-- Name: company_embeddings_searchable_profile_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX company_embeddings_searchable_profile_hnsw ON quarry.company_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128') WHERE (embedding_type = 'searchable_profile'::text);


--
-- Name: contact_unlocks_person_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX contact_unlocks_person_id ON quarry.contact_unlocks USING btree (person_id);


--
-- Name: conversations_user; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX conversations_user ON quarry.conversations USING btree (user_id, updated_at DESC);


--
-- Name: credit_ledger_user; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX credit_ledger_user ON quarry.credit_ledger USING btree (user_id, entry_number);


--
-- Name: document_section_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_section_embeddings_hnsw ON quarry.document_section_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: document_sections_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_sections_date ON quarry.document_sections USING btree (date);


--
-- Name: document_sections_matter_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_sections_matter_id ON quarry.document_sections USING btree (matter_id);


--
-- Name: document_sections_meeting_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_sections_meeting_id ON quarry.document_sections USING btree (meeting_id);


--
-- Name: document_sections_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_sections_not_embedded ON quarry.document_sections USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: document_sections_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_sections_text_search ON quarry.document_sections USING gin (text_search) WITH (fastupdate=off);


--
-- Name: document_sections_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX document_sections_titles ON quarry.document_sections USING gin (quarry.title_words(quarry.joined_text(VARIADIC ARRAY[document_title, heading]))) WITH (fastupdate=off);


--
-- Name: experience_card_child_embeddings_card_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_card_child_embeddings_card_id ON quarry.experience_card_child_embeddings USING btree (card_id);


--
-- Name: experience_card_child_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_card_child_embeddings_hnsw ON quarry.experience_card_child_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: experience_card_children_card_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_card_children_card_id ON quarry.experience_card_children USING btree (card_id);


--
-- Name: experience_card_children_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_card_children_not_embedded ON quarry.experience_card_children USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: experience_card_children_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_card_children_text_search ON quarry.experience_card_children USING gin (text_search) WITH (fastupdate=off);


--
-- Name: experience_card_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_card_embeddings_hnsw ON quarry.experience_card_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: experience_cards_city; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_city ON quarry.experience_cards USING btree (city_norm);


--
-- Name: experience_cards_company; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_company ON quarry.experience_cards USING btree (company_norm) INCLUDE (id, person_id, visible);


--
-- Name: experience_cards_company_like; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_company_like ON quarry.experience_cards USING gin (company_norm public.gin_trgm_ops) WITH (fastupdate=off);


--
-- Name: experience_cards_country; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_country ON quarry.experience_cards USING btree (country_norm);


--
-- Name: experience_cards_domain; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_domain ON quarry.experience_cards USING btree (domain_norm);


--
-- Name: experience_cards_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_not_embedded ON quarry.experience_cards USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: experience_cards_person_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_person_id ON quarry.experience_cards USING btree (person_id, visible) INCLUDE (id, intent_primary, employment_type, seniority_level, is_current, start_date, end_date);


--
-- Name: experience_cards_places; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_places ON quarry.experience_cards USING gin (places) WITH (fastupdate=off);


--
-- Name: experience_cards_role_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_role_search ON quarry.experience_cards USING gin (role_search) WITH (fastupdate=off);


--
-- Name: experience_cards_skills; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_skills ON quarry.experience_cards USING gin (quarry.lowered_names(skills)) WITH (fastupdate=off);


--
-- Name: experience_cards_sub_domain; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_sub_domain ON quarry.experience_cards USING btree (sub_domain_norm);


--
-- Name: experience_cards_team; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_team ON quarry.experience_cards USING btree (team_norm);


--
-- Name: experience_cards_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX experience_cards_text_search ON quarry.experience_cards USING gin (text_search) WITH (fastupdate=off);


--
-- Name: facet_values_phrase; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX facet_values_phrase ON quarry.facet_values USING btree (phrase, table_name);


--
-- Name: facet_values_stems; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX facet_values_stems ON quarry.facet_values USING gin (stems) WHERE (cardinality(stems) > 1);


--
-- Name: facet_values_value; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX facet_values_value ON quarry.facet_values USING btree (table_name, facet, value);


--
-- Name: facet_words_slips; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX facet_words_slips ON quarry.facet_words USING gin (stem public.gin_trgm_ops, (ARRAY[length(stem)]));


--
-- Name: facet_words_stem; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX facet_words_stem ON quarry.facet_words USING btree (stem, table_name);


--
-- Name: forgotten_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX forgotten_at ON quarry.forgotten USING btree (forgotten_at);


--
-- Name: forgotten_id_hash; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX forgotten_id_hash ON quarry.forgotten USING btree (id_hash, forgotten_at);


--
-- Name: idempotency_keys_expires_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX idempotency_keys_expires_at ON quarry.idempotency_keys USING btree (expires_at);


--
-- Name: key_statement_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statement_embeddings_hnsw ON quarry.key_statement_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: key_statements_agenda_item_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statements_agenda_item_id ON quarry.key_statements USING btree (agenda_item_id);


--
-- Name: key_statements_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statements_date ON quarry.key_statements USING btree (date);


--
-- Name: key_statements_meeting_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statements_meeting_id ON quarry.key_statements USING btree (meeting_id);


--
-- Name: key_statements_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statements_not_embedded ON quarry.key_statements USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: key_statements_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statements_text_search ON quarry.key_statements USING gin (text_search) WITH (fastupdate=off);


--
-- Name: key_statements_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX key_statements_titles ON quarry.key_statements USING gin (quarry.title_words(quarry.joined_text(VARIADIC ARRAY[speaker_name, speaker_role]))) WITH (fastupdate=off);


--
-- Name: lexeme_counts_spelling; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX lexeme_counts_spelling ON quarry.lexeme_counts USING gin (lexeme public.gin_trgm_ops) WITH (fastupdate=off);


--
-- Name: matter_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX matter_embeddings_hnsw ON quarry.matter_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: matters_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX matters_date ON quarry.matters USING btree (date);


--
-- Name: matters_meeting_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX matters_meeting_id ON quarry.matters USING btree (meeting_id);


--
-- Name: matters_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX matters_not_embedded ON quarry.matters USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: matters_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX matters_text_search ON quarry.matters USING gin (text_search) WITH (fastupdate=off);


--
-- Name: matters_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX matters_titles ON quarry.matters USING gin (quarry.title_words(quarry.joined_text(VARIADIC ARRAY[title]))) WITH (fastupdate=off);


--
-- Name: meetings_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX meetings_date ON quarry.meetings USING btree (date);


--
-- Name: motion_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motion_embeddings_hnsw ON quarry.motion_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: motions_agenda_item_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_agenda_item_id ON quarry.motions USING btree (agenda_item_id);


--
-- Name: motions_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_date ON quarry.motions USING btree (date);


--
-- Name: motions_matter_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_matter_id ON quarry.motions USING btree (matter_id);


--
-- Name: motions_meeting_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_meeting_id ON quarry.motions USING btree (meeting_id);


--
-- Name: motions_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_not_embedded ON quarry.motions USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: motions_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_text_search ON quarry.motions USING gin (text_search) WITH (fastupdate=off);


--
-- Name: motions_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX motions_titles ON quarry.motions USING gin (quarry.title_words(quarry.joined_text(VARIADIC ARRAY[plain_english_summary]))) WITH (fastupdate=off);


--
-- Name: onto_documents_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_documents_project_id ON quarry.onto_documents USING btree (project_id);


--
-- Name: onto_goals_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_goals_project_id ON quarry.onto_goals USING btree (project_id);


--
-- Name: onto_milestones_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_milestones_project_id ON quarry.onto_milestones USING btree (project_id);


--
-- Name: onto_outputs_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_outputs_project_id ON quarry.onto_outputs USING btree (project_id);


--
-- Name: onto_plans_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_plans_project_id ON quarry.onto_plans USING btree (project_id);


--
-- Name: onto_requirements_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_requirements_project_id ON quarry.onto_requirements USING btree (project_id);


--
-- Name: onto_search_entries_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_search_entries_search ON quarry.onto_search_entries USING gin (created_by, search_vector, title public.gin_trgm_ops) WITH (fastupdate=off);


--
-- Name: onto_tasks_project_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX onto_tasks_project_id ON quarry.onto_tasks USING btree (project_id);


--
-- Name: people_discover; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX people_discover ON quarry.people USING btree (((name IS NULL)), lower(COALESCE(name, ''::text)), id);


--
-- Name: people_name; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX people_name ON quarry.people USING btree (lower(btrim(name)));


--
-- Name: people_search_results_person_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX people_search_results_person_id ON quarry.people_search_results USING btree (person_id);


--
-- Name: people_searches_expires_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX people_searches_expires_at ON quarry.people_searches USING btree (expires_at);


--
-- Name: people_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX people_text_search ON quarry.people USING gin (text_search) WITH (fastupdate=off);


--
-- Name: people_work_preferred_locations; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX people_work_preferred_locations ON quarry.people USING gin (work_preferred_locations_norm) WITH (fastupdate=off);


--
-- Name: rate_windows_window_start; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX rate_windows_window_start ON quarry.rate_windows USING btree (window_start);


--
-- Name: run_streams_started_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX run_streams_started_at ON quarry.run_streams USING btree (started_at);


--
-- Name: saved_searches_user; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX saved_searches_user ON quarry.saved_searches USING btree (user_id, created_at DESC);


--
-- Name: search_runs_feedback_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX search_runs_feedback_at ON quarry.search_runs USING btree (feedback_at) WHERE (feedback_at IS NOT NULL);


--
-- Name: search_runs_session; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX search_runs_session ON quarry.search_runs USING btree (session_id, started_at) WHERE (session_id IS NOT NULL);


--
-- Name: search_runs_started_at; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX search_runs_started_at ON quarry.search_runs USING btree (started_at);


--
-- Name: text_changes_of_table; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX text_changes_of_table ON quarry.text_changes USING btree (of_table);


--
-- Name: transcript_segment_embeddings_hnsw; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segment_embeddings_hnsw ON quarry.transcript_segment_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: transcript_segments_agenda_item_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segments_agenda_item_id ON quarry.transcript_segments USING btree (agenda_item_id);


--
-- Name: transcript_segments_date; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segments_date ON quarry.transcript_segments USING btree (date);


--
-- Name: transcript_segments_meeting_id; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segments_meeting_id ON quarry.transcript_segments USING btree (meeting_id);


--
-- Name: transcript_segments_not_embedded; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segments_not_embedded ON quarry.transcript_segments USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: transcript_segments_text_search; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segments_text_search ON quarry.transcript_segments USING gin (text_search) WITH (fastupdate=off);


--
-- Name: transcript_segments_titles; Type: INDEX; Schema: quarry; Owner: -
--

CREATE INDEX transcript_segments_titles ON quarry.transcript_segments USING gin (quarry.title_words(quarry.joined_text(VARIADIC ARRAY[speaker_name, speaker_role]))) WITH (fastupdate=off);


--
-- Name: agenda_items agenda_items_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER agenda_items_values_delete AFTER DELETE ON quarry.agenda_items REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('agenda_items', 'category, id, matter_id, meeting_id');


--
-- Name: agenda_items agenda_items_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER agenda_items_values_insert AFTER INSERT ON quarry.agenda_items REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('agenda_items', 'category, id, matter_id, meeting_id');


--
-- Name: agenda_items agenda_items_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER agenda_items_values_truncate AFTER TRUNCATE ON quarry.agenda_items FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('agenda_items', 'category, id, matter_id, meeting_id');


--
-- Name: agenda_items agenda_items_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER agenda_items_values_update AFTER UPDATE ON quarry.agenda_items REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('agenda_items', 'category, id, matter_id, meeting_id');


--
-- Name: matters agenda_items_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER agenda_items_values_update AFTER UPDATE ON quarry.matters REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('agenda_items', 'id, title', 'r.id = t.matter_id');


--
-- Name: meetings agenda_items_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER agenda_items_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('agenda_items', 'body, id', 'r.id = t.meeting_id');


--
-- Name: campaigns campaigns_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER campaigns_values_delete AFTER DELETE ON quarry.campaigns REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('campaigns', 'brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props');


--
-- Name: campaigns campaigns_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER campaigns_values_insert AFTER INSERT ON quarry.campaigns REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('campaigns', 'brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props');


--
-- Name: campaigns campaigns_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER campaigns_values_truncate AFTER TRUNCATE ON quarry.campaigns FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('campaigns', 'brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props');


--
-- Name: campaigns campaigns_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER campaigns_values_update AFTER UPDATE ON quarry.campaigns REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('campaigns', 'brand, channel, company, id, imagery_sentiment, imagery_visual_style, key_value_props');


--
-- Name: experience_card_child_embeddings card_of_child; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER card_of_child BEFORE INSERT ON quarry.experience_card_child_embeddings FOR EACH ROW EXECUTE FUNCTION quarry.card_of_child();


--
-- Name: companies companies_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER companies_values_delete AFTER DELETE ON quarry.companies REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('companies', 'acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status');


--
-- Name: companies companies_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER companies_values_insert AFTER INSERT ON quarry.companies REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('companies', 'acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status');


--
-- Name: companies companies_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER companies_values_truncate AFTER TRUNCATE ON quarry.companies FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('companies', 'acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status');


--
-- Name: companies companies_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER companies_values_update AFTER UPDATE ON quarry.companies REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('companies', 'acquirer, business_models, categories, company_name, domain, former_names, founders, funding_stage, hq_city, hq_country, id, niches, sectors, status');


--
-- Name: document_sections document_sections_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER document_sections_values_delete AFTER DELETE ON quarry.document_sections REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('document_sections', 'document_title, document_type, id, matter_id, meeting_id');


--
-- Name: document_sections document_sections_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER document_sections_values_insert AFTER INSERT ON quarry.document_sections REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('document_sections', 'document_title, document_type, id, matter_id, meeting_id');


--
-- Name: document_sections document_sections_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER document_sections_values_truncate AFTER TRUNCATE ON quarry.document_sections FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('document_sections', 'document_title, document_type, id, matter_id, meeting_id');


--
-- Name: document_sections document_sections_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER document_sections_values_update AFTER UPDATE ON quarry.document_sections REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('document_sections', 'document_title, document_type, id, matter_id, meeting_id');


--
-- Name: matters document_sections_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER document_sections_values_update AFTER UPDATE ON quarry.matters REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('document_sections', 'id, title', 'r.id = t.matter_id');


--
-- Name: meetings document_sections_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER document_sections_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('document_sections', 'body, id', 'r.id = t.meeting_id');


--
-- Name: experience_cards experience_deleted; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER experience_deleted AFTER DELETE ON quarry.experience_cards REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.keep_experience();


--
-- Name: experience_cards experience_inserted; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER experience_inserted AFTER INSERT ON quarry.experience_cards REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.keep_experience();


--
-- Name: experience_cards experience_truncated; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER experience_truncated AFTER TRUNCATE ON quarry.experience_cards FOR EACH STATEMENT EXECUTE FUNCTION quarry.keep_experience();


--
-- Name: experience_cards experience_updated; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER experience_updated AFTER UPDATE ON quarry.experience_cards REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.keep_experience();


--
-- Name: key_statements key_statements_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER key_statements_values_delete AFTER DELETE ON quarry.key_statements REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('key_statements', 'id, meeting_id, speaker_name, speaker_role, stance');


--
-- Name: key_statements key_statements_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER key_statements_values_insert AFTER INSERT ON quarry.key_statements REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('key_statements', 'id, meeting_id, speaker_name, speaker_role, stance');


--
-- Name: key_statements key_statements_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER key_statements_values_truncate AFTER TRUNCATE ON quarry.key_statements FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('key_statements', 'id, meeting_id, speaker_name, speaker_role, stance');


--
-- Name: key_statements key_statements_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER key_statements_values_update AFTER UPDATE ON quarry.key_statements REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('key_statements', 'id, meeting_id, speaker_name, speaker_role, stance');


--
-- Name: meetings key_statements_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER key_statements_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('key_statements', 'body, id', 'r.id = t.meeting_id');


--
-- Name: matters matters_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER matters_values_delete AFTER DELETE ON quarry.matters REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('matters', 'id, matter_type, meeting_id, sponsors, status, title');


--
-- Name: matters matters_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER matters_values_insert AFTER INSERT ON quarry.matters REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('matters', 'id, matter_type, meeting_id, sponsors, status, title');


--
-- Name: matters matters_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER matters_values_truncate AFTER TRUNCATE ON quarry.matters FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('matters', 'id, matter_type, meeting_id, sponsors, status, title');


--
-- Name: matters matters_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER matters_values_update AFTER UPDATE ON quarry.matters REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('matters', 'id, matter_type, meeting_id, sponsors, status, title');


--
-- Name: meetings matters_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER matters_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('matters', 'body, id', 'r.id = t.meeting_id');


--
-- Name: meetings meetings_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER meetings_values_delete AFTER DELETE ON quarry.meetings REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('meetings', 'body, id');


--
-- Name: meetings meetings_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER meetings_values_insert AFTER INSERT ON quarry.meetings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('meetings', 'body, id');


--
-- Name: meetings meetings_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER meetings_values_truncate AFTER TRUNCATE ON quarry.meetings FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('meetings', 'body, id');


--
-- Name: meetings meetings_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER meetings_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('meetings', 'body, id');


--
-- Name: motions motions_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER motions_values_delete AFTER DELETE ON quarry.motions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('motions', 'abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for');


--
-- Name: motions motions_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER motions_values_insert AFTER INSERT ON quarry.motions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('motions', 'abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for');


--
-- Name: motions motions_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER motions_values_truncate AFTER TRUNCATE ON quarry.motions FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('motions', 'abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for');


--
-- Name: matters motions_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER motions_values_update AFTER UPDATE ON quarry.matters REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('motions', 'id, title', 'r.id = t.matter_id');


--
-- Name: meetings motions_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER motions_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('motions', 'body, id', 'r.id = t.meeting_id');


--
-- Name: motions motions_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER motions_values_update AFTER UPDATE ON quarry.motions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('motions', 'abstained, id, matter_id, meeting_id, mover, outcome, seconder, tally, votes_against, votes_for');


--
-- Name: onto_documents onto_documents_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_search_entries AFTER TRUNCATE ON quarry.onto_documents FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('document');


--
-- Name: onto_documents onto_documents_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_documents FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('document');


--
-- Name: onto_documents onto_documents_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_values_delete AFTER DELETE ON quarry.onto_documents REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_documents', 'created_by, id, project_id, props');


--
-- Name: onto_documents onto_documents_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_values_insert AFTER INSERT ON quarry.onto_documents REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_documents', 'created_by, id, project_id, props');


--
-- Name: onto_documents onto_documents_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_values_truncate AFTER TRUNCATE ON quarry.onto_documents FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_documents', 'created_by, id, project_id, props');


--
-- Name: onto_documents onto_documents_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_values_update AFTER UPDATE ON quarry.onto_documents REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_documents', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_documents_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_documents_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_documents', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_goals onto_goals_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_search_entries AFTER TRUNCATE ON quarry.onto_goals FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('goal');


--
-- Name: onto_goals onto_goals_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_goals FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('goal');


--
-- Name: onto_goals onto_goals_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_values_delete AFTER DELETE ON quarry.onto_goals REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_goals', 'created_by, id, project_id, props');


--
-- Name: onto_goals onto_goals_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_values_insert AFTER INSERT ON quarry.onto_goals REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_goals', 'created_by, id, project_id, props');


--
-- Name: onto_goals onto_goals_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_values_truncate AFTER TRUNCATE ON quarry.onto_goals FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_goals', 'created_by, id, project_id, props');


--
-- Name: onto_goals onto_goals_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_values_update AFTER UPDATE ON quarry.onto_goals REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_goals', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_goals_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_goals_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_goals', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_milestones onto_milestones_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_search_entries AFTER TRUNCATE ON quarry.onto_milestones FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('milestone');


--
-- Name: onto_milestones onto_milestones_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_milestones FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('milestone');


--
-- Name: onto_milestones onto_milestones_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_values_delete AFTER DELETE ON quarry.onto_milestones REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_milestones', 'created_by, id, project_id, props');


--
-- Name: onto_milestones onto_milestones_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_values_insert AFTER INSERT ON quarry.onto_milestones REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_milestones', 'created_by, id, project_id, props');


--
-- Name: onto_milestones onto_milestones_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_values_truncate AFTER TRUNCATE ON quarry.onto_milestones FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_milestones', 'created_by, id, project_id, props');


--
-- Name: onto_milestones onto_milestones_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_values_update AFTER UPDATE ON quarry.onto_milestones REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_milestones', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_milestones_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_milestones_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_milestones', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_outputs onto_outputs_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_search_entries AFTER TRUNCATE ON quarry.onto_outputs FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('output');


--
-- Name: onto_outputs onto_outputs_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_outputs FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('output');


--
-- Name: onto_outputs onto_outputs_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_values_delete AFTER DELETE ON quarry.onto_outputs REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_outputs', 'created_by, id, project_id, props');


--
-- Name: onto_outputs onto_outputs_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_values_insert AFTER INSERT ON quarry.onto_outputs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_outputs', 'created_by, id, project_id, props');


--
-- Name: onto_outputs onto_outputs_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_values_truncate AFTER TRUNCATE ON quarry.onto_outputs FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_outputs', 'created_by, id, project_id, props');


--
-- Name: onto_outputs onto_outputs_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_values_update AFTER UPDATE ON quarry.onto_outputs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_outputs', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_outputs_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_outputs_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_outputs', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_plans onto_plans_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_search_entries AFTER TRUNCATE ON quarry.onto_plans FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('plan');


--
-- Name: onto_plans onto_plans_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_plans FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('plan');


--
-- Name: onto_plans onto_plans_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_values_delete AFTER DELETE ON quarry.onto_plans REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_plans', 'created_by, id, project_id, props');


--
-- Name: onto_plans onto_plans_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_values_insert AFTER INSERT ON quarry.onto_plans REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_plans', 'created_by, id, project_id, props');


--
-- Name: onto_plans onto_plans_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_values_truncate AFTER TRUNCATE ON quarry.onto_plans FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_plans', 'created_by, id, project_id, props');


--
-- Name: onto_plans onto_plans_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_values_update AFTER UPDATE ON quarry.onto_plans REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_plans', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_plans_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_plans_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_plans', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_requirements onto_requirements_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_search_entries AFTER TRUNCATE ON quarry.onto_requirements FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('requirement');


--
-- Name: onto_requirements onto_requirements_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_requirements FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('requirement');


--
-- Name: onto_requirements onto_requirements_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_values_delete AFTER DELETE ON quarry.onto_requirements REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_requirements', 'created_by, id, project_id, props');


--
-- Name: onto_requirements onto_requirements_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_values_insert AFTER INSERT ON quarry.onto_requirements REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_requirements', 'created_by, id, project_id, props');


--
-- Name: onto_requirements onto_requirements_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_values_truncate AFTER TRUNCATE ON quarry.onto_requirements FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_requirements', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_requirements_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_requirements', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_requirements onto_requirements_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_requirements_values_update AFTER UPDATE ON quarry.onto_requirements REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_requirements', 'created_by, id, project_id, props');


--
-- Name: onto_tasks onto_tasks_search_entries; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_search_entries AFTER TRUNCATE ON quarry.onto_tasks FOR EACH STATEMENT EXECUTE FUNCTION quarry.onto_keep_search_entry('task');


--
-- Name: onto_tasks onto_tasks_search_entry; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_search_entry AFTER INSERT OR DELETE OR UPDATE ON quarry.onto_tasks FOR EACH ROW EXECUTE FUNCTION quarry.onto_keep_search_entry('task');


--
-- Name: onto_tasks onto_tasks_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_values_delete AFTER DELETE ON quarry.onto_tasks REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_tasks', 'created_by, id, project_id, props');


--
-- Name: onto_tasks onto_tasks_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_values_insert AFTER INSERT ON quarry.onto_tasks REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_tasks', 'created_by, id, project_id, props');


--
-- Name: onto_tasks onto_tasks_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_values_truncate AFTER TRUNCATE ON quarry.onto_tasks FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_tasks', 'created_by, id, project_id, props');


--
-- Name: onto_projects onto_tasks_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_values_update AFTER UPDATE ON quarry.onto_projects REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_tasks', 'created_by, id, name', 'r.id = t.project_id and r.created_by = t.created_by');


--
-- Name: onto_tasks onto_tasks_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER onto_tasks_values_update AFTER UPDATE ON quarry.onto_tasks REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('onto_tasks', 'created_by, id, project_id, props');


--
-- Name: experience_cards people_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_delete AFTER DELETE ON quarry.experience_cards REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible', 'id', 'person_id');


--
-- Name: people people_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_delete BEFORE DELETE ON quarry.people FOR EACH ROW EXECUTE FUNCTION quarry.count_written_values('people', 'city, country, id, name, work_preferred_locations');


--
-- Name: experience_cards people_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_insert AFTER INSERT ON quarry.experience_cards REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible', 'id', 'person_id');


--
-- Name: people people_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_insert AFTER INSERT ON quarry.people REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, country, id, name, work_preferred_locations');


--
-- Name: experience_cards people_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_truncate AFTER TRUNCATE ON quarry.experience_cards FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible', 'id', 'person_id');


--
-- Name: people people_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_truncate AFTER TRUNCATE ON quarry.people FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, country, id, name, work_preferred_locations');


--
-- Name: experience_cards people_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_update AFTER UPDATE ON quarry.experience_cards REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, company_name, country, domain, employment_type, id, intent_primary, location, person_id, seniority_level, skills, sub_domain, team, title, visible', 'id', 'person_id');


--
-- Name: people people_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER people_values_update AFTER UPDATE ON quarry.people REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('people', 'city, country, id, name, work_preferred_locations');


--
-- Name: agenda_items texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.agenda_items REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: campaigns texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.campaigns REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: companies texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.companies REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: document_sections texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.document_sections REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: key_statements texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.key_statements REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: matters texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.matters REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: motions texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.motions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: transcript_segments texts_noted_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_insert AFTER INSERT ON quarry.transcript_segments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: agenda_items texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.agenda_items REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: campaigns texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.campaigns REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: companies texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.companies REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: document_sections texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.document_sections REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: key_statements texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.key_statements REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: matters texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.matters REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: motions texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.motions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: transcript_segments texts_noted_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER texts_noted_update AFTER UPDATE ON quarry.transcript_segments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.note_changed_texts();


--
-- Name: transcript_segments transcript_segments_values_delete; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER transcript_segments_values_delete AFTER DELETE ON quarry.transcript_segments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('transcript_segments', 'id, meeting_id, speaker_name, speaker_role');


--
-- Name: transcript_segments transcript_segments_values_insert; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER transcript_segments_values_insert AFTER INSERT ON quarry.transcript_segments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('transcript_segments', 'id, meeting_id, speaker_name, speaker_role');


--
-- Name: transcript_segments transcript_segments_values_truncate; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER transcript_segments_values_truncate AFTER TRUNCATE ON quarry.transcript_segments FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('transcript_segments', 'id, meeting_id, speaker_name, speaker_role');


--
-- Name: meetings transcript_segments_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER transcript_segments_values_update AFTER UPDATE ON quarry.meetings REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('transcript_segments', 'body, id', 'r.id = t.meeting_id');


--
-- Name: transcript_segments transcript_segments_values_update; Type: TRIGGER; Schema: quarry; Owner: -
--

CREATE TRIGGER transcript_segments_values_update AFTER UPDATE ON quarry.transcript_segments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quarry.count_written_values('transcript_segments', 'id, meeting_id, speaker_name, speaker_role');


--
-- Name: agenda_item_embeddings agenda_item_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.agenda_item_embeddings
    ADD CONSTRAINT agenda_item_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.agenda_items(id) ON DELETE CASCADE;


--
-- Name: agenda_items agenda_items_matter_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.agenda_items
    ADD CONSTRAINT agenda_items_matter_id_fkey FOREIGN KEY (matter_id) REFERENCES quarry.matters(id);


--
-- Name: agenda_items agenda_items_meeting_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.agenda_items
    ADD CONSTRAINT agenda_items_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES quarry.meetings(id);


--
-- Name: campaign_embeddings campaign_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.campaign_embeddings
    ADD CONSTRAINT campaign_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.campaigns(id) ON DELETE CASCADE;


--
-- Name: company_embeddings company_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.company_embeddings
    ADD CONSTRAINT company_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.companies(id) ON DELETE CASCADE;


--
-- Name: contact_unlocks contact_unlocks_person_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.contact_unlocks
    ADD CONSTRAINT contact_unlocks_person_id_fkey FOREIGN KEY (person_id) REFERENCES quarry.people(id) ON DELETE CASCADE;


--
-- Name: credit_ledger credit_ledger_user_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.credit_ledger
    ADD CONSTRAINT credit_ledger_user_id_fkey FOREIGN KEY (user_id) REFERENCES quarry.credit_accounts(user_id);


--
-- Name: document_section_embeddings document_section_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.document_section_embeddings
    ADD CONSTRAINT document_section_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.document_sections(id) ON DELETE CASCADE;


--
-- Name: document_sections document_sections_matter_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.document_sections
    ADD CONSTRAINT document_sections_matter_id_fkey FOREIGN KEY (matter_id) REFERENCES quarry.matters(id);


--
-- Name: document_sections document_sections_meeting_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.document_sections
    ADD CONSTRAINT document_sections_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES quarry.meetings(id);


--
-- Name: experience_card_child_embeddings experience_card_child_embeddings_record_id_card_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_child_embeddings
    ADD CONSTRAINT experience_card_child_embeddings_record_id_card_id_fkey FOREIGN KEY (record_id, card_id) REFERENCES quarry.experience_card_children(id, card_id) ON UPDATE CASCADE ON DELETE CASCADE;


--
-- Name: experience_card_children experience_card_children_card_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_children
    ADD CONSTRAINT experience_card_children_card_id_fkey FOREIGN KEY (card_id) REFERENCES quarry.experience_cards(id) ON DELETE CASCADE;


--
-- Name: experience_card_embeddings experience_card_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_card_embeddings
    ADD CONSTRAINT experience_card_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.experience_cards(id) ON DELETE CASCADE;


--
-- Name: experience_cards experience_cards_person_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.experience_cards
    ADD CONSTRAINT experience_cards_person_id_fkey FOREIGN KEY (person_id) REFERENCES quarry.people(id) ON DELETE CASCADE;


--
-- Name: key_statement_embeddings key_statement_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.key_statement_embeddings
    ADD CONSTRAINT key_statement_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.key_statements(id) ON DELETE CASCADE;


--
-- Name: key_statements key_statements_agenda_item_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.key_statements
    ADD CONSTRAINT key_statements_agenda_item_id_fkey FOREIGN KEY (agenda_item_id) REFERENCES quarry.agenda_items(id);


--
-- Name: key_statements key_statements_meeting_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.key_statements
    ADD CONSTRAINT key_statements_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES quarry.meetings(id);


--
-- Name: matter_embeddings matter_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.matter_embeddings
    ADD CONSTRAINT matter_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.matters(id) ON DELETE CASCADE;


--
-- Name: matters matters_meeting_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.matters
    ADD CONSTRAINT matters_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES quarry.meetings(id);


--
-- Name: motion_embeddings motion_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.motion_embeddings
    ADD CONSTRAINT motion_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.motions(id) ON DELETE CASCADE;


--
-- Name: motions motions_agenda_item_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.motions
    ADD CONSTRAINT motions_agenda_item_id_fkey FOREIGN KEY (agenda_item_id) REFERENCES quarry.agenda_items(id);


--
-- Name: motions motions_matter_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.motions
    ADD CONSTRAINT motions_matter_id_fkey FOREIGN KEY (matter_id) REFERENCES quarry.matters(id);


--
-- Name: motions motions_meeting_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.motions
    ADD CONSTRAINT motions_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES quarry.meetings(id);


--
-- Name: onto_documents onto_documents_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_documents
    ADD CONSTRAINT onto_documents_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: onto_goals onto_goals_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_goals
    ADD CONSTRAINT onto_goals_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: onto_milestones onto_milestones_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_milestones
    ADD CONSTRAINT onto_milestones_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: onto_outputs onto_outputs_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_outputs
    ADD CONSTRAINT onto_outputs_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: onto_plans onto_plans_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_plans
    ADD CONSTRAINT onto_plans_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: onto_requirements onto_requirements_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_requirements
    ADD CONSTRAINT onto_requirements_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: onto_tasks onto_tasks_project_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.onto_tasks
    ADD CONSTRAINT onto_tasks_project_id_fkey FOREIGN KEY (project_id) REFERENCES quarry.onto_projects(id);


--
-- Name: people_search_results people_search_results_person_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.people_search_results
    ADD CONSTRAINT people_search_results_person_id_fkey FOREIGN KEY (person_id) REFERENCES quarry.people(id) ON DELETE CASCADE;


--
-- Name: people_search_results people_search_results_search_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.people_search_results
    ADD CONSTRAINT people_search_results_search_id_fkey FOREIGN KEY (search_id) REFERENCES quarry.people_searches(id) ON DELETE CASCADE;


--
-- Name: run_events run_events_run_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.run_events
    ADD CONSTRAINT run_events_run_id_fkey FOREIGN KEY (run_id) REFERENCES quarry.run_streams(run_id) ON DELETE CASCADE;


--
-- Name: saved_search_results saved_search_results_search_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.saved_search_results
    ADD CONSTRAINT saved_search_results_search_id_fkey FOREIGN KEY (search_id) REFERENCES quarry.saved_searches(id) ON DELETE CASCADE;


--
-- Name: search_run_results search_run_results_run_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.search_run_results
    ADD CONSTRAINT search_run_results_run_id_fkey FOREIGN KEY (run_id) REFERENCES quarry.search_runs(id) ON DELETE CASCADE;


--
-- Name: search_run_steps search_run_steps_run_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.search_run_steps
    ADD CONSTRAINT search_run_steps_run_id_fkey FOREIGN KEY (run_id) REFERENCES quarry.search_runs(id) ON DELETE CASCADE;


--
-- Name: transcript_segment_embeddings transcript_segment_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.transcript_segment_embeddings
    ADD CONSTRAINT transcript_segment_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES quarry.transcript_segments(id) ON DELETE CASCADE;


--
-- Name: transcript_segments transcript_segments_agenda_item_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.transcript_segments
    ADD CONSTRAINT transcript_segments_agenda_item_id_fkey FOREIGN KEY (agenda_item_id) REFERENCES quarry.agenda_items(id);


--
-- Name: transcript_segments transcript_segments_meeting_id_fkey; Type: FK CONSTRAINT; Schema: quarry; Owner: -
--

ALTER TABLE ONLY quarry.transcript_segments
    ADD CONSTRAINT transcript_segments_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES quarry.meetings(id);


--
-- Name: facet_values; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.facet_values ENABLE ROW LEVEL SECURITY;

--
-- Name: facet_values facet_values_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY facet_values_for_loading ON quarry.facet_values TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: facet_values facet_values_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY facet_values_for_serving ON quarry.facet_values FOR SELECT TO quarry_serving USING (true);


--
-- Name: facet_values facet_values_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY facet_values_of_the_actor ON quarry.facet_values FOR SELECT USING ((scope = ANY (ARRAY[''::text, current_setting('quarry.actor'::text, true)])));


--
-- Name: onto_documents; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_documents ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_documents onto_documents_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_documents_for_loading ON quarry.onto_documents TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_documents onto_documents_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_documents_for_serving ON quarry.onto_documents FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_documents onto_documents_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_documents_of_the_actor ON quarry.onto_documents FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_goals; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_goals ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_goals onto_goals_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_goals_for_loading ON quarry.onto_goals TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_goals onto_goals_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_goals_for_serving ON quarry.onto_goals FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_goals onto_goals_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_goals_of_the_actor ON quarry.onto_goals FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_milestones; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_milestones ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_milestones onto_milestones_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_milestones_for_loading ON quarry.onto_milestones TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_milestones onto_milestones_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_milestones_for_serving ON quarry.onto_milestones FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_milestones onto_milestones_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_milestones_of_the_actor ON quarry.onto_milestones FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_outputs; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_outputs ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_outputs onto_outputs_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_outputs_for_loading ON quarry.onto_outputs TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_outputs onto_outputs_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_outputs_for_serving ON quarry.onto_outputs FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_outputs onto_outputs_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_outputs_of_the_actor ON quarry.onto_outputs FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_plans; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_plans ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_plans onto_plans_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_plans_for_loading ON quarry.onto_plans TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_plans onto_plans_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_plans_for_serving ON quarry.onto_plans FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_plans onto_plans_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_plans_of_the_actor ON quarry.onto_plans FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_projects; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_projects ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_projects onto_projects_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_projects_for_loading ON quarry.onto_projects TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_projects onto_projects_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_projects_for_serving ON quarry.onto_projects FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_projects onto_projects_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_projects_of_the_actor ON quarry.onto_projects FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_requirements; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_requirements ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_requirements onto_requirements_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_requirements_for_loading ON quarry.onto_requirements TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_requirements onto_requirements_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_requirements_for_serving ON quarry.onto_requirements FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_requirements onto_requirements_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_requirements_of_the_actor ON quarry.onto_requirements FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_search_entries; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_search_entries ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_search_entries onto_search_entries_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_search_entries_for_loading ON quarry.onto_search_entries TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_search_entries onto_search_entries_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_search_entries_for_serving ON quarry.onto_search_entries FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_search_entries onto_search_entries_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_search_entries_of_the_actor ON quarry.onto_search_entries FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: onto_tasks; Type: ROW SECURITY; Schema: quarry; Owner: -
--

ALTER TABLE quarry.onto_tasks ENABLE ROW LEVEL SECURITY;

--
-- Name: onto_tasks onto_tasks_for_loading; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_tasks_for_loading ON quarry.onto_tasks TO quarry_loading USING (true) WITH CHECK (true);


--
-- Name: onto_tasks onto_tasks_for_serving; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_tasks_for_serving ON quarry.onto_tasks FOR SELECT TO quarry_serving USING (true);


--
-- Name: onto_tasks onto_tasks_of_the_actor; Type: POLICY; Schema: quarry; Owner: -
--

CREATE POLICY onto_tasks_of_the_actor ON quarry.onto_tasks FOR SELECT USING ((created_by = current_setting('quarry.actor'::text, true)));


--
-- Name: SCHEMA quarry; Type: ACL; Schema: -; Owner: -
--

GRANT USAGE ON SCHEMA quarry TO quarry_serving;
GRANT USAGE ON SCHEMA quarry TO quarry_loading;
GRANT USAGE ON SCHEMA quarry TO quarry_ontology_reader;


--
-- Name: TABLE experience_cards; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.experience_cards TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.experience_cards TO quarry_loading;


--
-- Name: TABLE people; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.people TO quarry_loading;


--
-- Name: COLUMN people.id; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(id) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.open_to_work; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(open_to_work) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.open_to_contact; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(open_to_contact) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.work_preferred_salary_min; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(work_preferred_salary_min) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.work_preferred_locations; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(work_preferred_locations) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.work_preferred_locations_norm; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(work_preferred_locations_norm) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.name; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(name) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.headline; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(headline) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.bio; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(bio) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.city; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(city) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.country; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(country) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.experience_days; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(experience_days) ON TABLE quarry.people TO quarry_serving;


--
-- Name: COLUMN people.experience_since; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT(experience_since) ON TABLE quarry.people TO quarry_serving;


--
-- Name: TABLE experience_card_children; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.experience_card_children TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.experience_card_children TO quarry_loading;


--
-- Name: TABLE contact_unlocks; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.contact_unlocks TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.contact_unlocks TO quarry_loading;


--
-- Name: TABLE people_search_results; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.people_search_results TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.people_search_results TO quarry_loading;


--
-- Name: TABLE people_searches; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.people_searches TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.people_searches TO quarry_loading;


--
-- Name: FUNCTION contact_of_person(p_user_id text, p_search_id uuid, p_person_id text); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.contact_of_person(p_user_id text, p_search_id uuid, p_person_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.contact_of_person(p_user_id text, p_search_id uuid, p_person_id text) TO quarry_serving;
GRANT ALL ON FUNCTION quarry.contact_of_person(p_user_id text, p_search_id uuid, p_person_id text) TO quarry_loading;


--
-- Name: FUNCTION count_people(p_filters quarry.card_filters, p_wider quarry.card_filters[], p_excluded_people text[], p_among text[]); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.count_people(p_filters quarry.card_filters, p_wider quarry.card_filters[], p_excluded_people text[], p_among text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.count_people(p_filters quarry.card_filters, p_wider quarry.card_filters[], p_excluded_people text[], p_among text[]) TO quarry_serving;


--
-- Name: FUNCTION excluded_people(f quarry.card_filters, p_within quarry.card_filters, p_profiles boolean); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.excluded_people(f quarry.card_filters, p_within quarry.card_filters, p_profiles boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.excluded_people(f quarry.card_filters, p_within quarry.card_filters, p_profiles boolean) TO quarry_serving;


--
-- Name: FUNCTION find_people(p_embedding public.halfvec, p_query text, p_should_terms text[], p_filters quarry.card_filters, p_asked quarry.card_filters, p_excluded_people text[], p_within quarry.card_filters, p_profiles boolean, p_among text[], p_overfetch integer, p_top_k integer); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.find_people(p_embedding public.halfvec, p_query text, p_should_terms text[], p_filters quarry.card_filters, p_asked quarry.card_filters, p_excluded_people text[], p_within quarry.card_filters, p_profiles boolean, p_among text[], p_overfetch integer, p_top_k integer) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.find_people(p_embedding public.halfvec, p_query text, p_should_terms text[], p_filters quarry.card_filters, p_asked quarry.card_filters, p_excluded_people text[], p_within quarry.card_filters, p_profiles boolean, p_among text[], p_overfetch integer, p_top_k integer) TO quarry_serving;


--
-- Name: TABLE companies; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.companies TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.companies TO quarry_loading;


--
-- Name: FUNCTION hold_people(p_ids text[]); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.hold_people(p_ids text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.hold_people(p_ids text[]) TO quarry_serving;
GRANT ALL ON FUNCTION quarry.hold_people(p_ids text[]) TO quarry_loading;


--
-- Name: FUNCTION never_said(p_texts text[]); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.never_said(p_texts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.never_said(p_texts text[]) TO quarry_serving;


--
-- Name: FUNCTION people_meeting(p_names text[], p_texts text[], p_groups quarry.card_filters[]); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.people_meeting(p_names text[], p_texts text[], p_groups quarry.card_filters[]) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.people_meeting(p_names text[], p_texts text[], p_groups quarry.card_filters[]) TO quarry_serving;


--
-- Name: FUNCTION people_standings(p_people text[], p_clauses quarry.card_filters[], p_texts text[]); Type: ACL; Schema: quarry; Owner: -
--

REVOKE ALL ON FUNCTION quarry.people_standings(p_people text[], p_clauses quarry.card_filters[], p_texts text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION quarry.people_standings(p_people text[], p_clauses quarry.card_filters[], p_texts text[]) TO quarry_serving;


--
-- Name: TABLE forgotten; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.forgotten TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.forgotten TO quarry_loading;


--
-- Name: TABLE agenda_item_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.agenda_item_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.agenda_item_embeddings TO quarry_loading;


--
-- Name: TABLE agenda_items; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.agenda_items TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.agenda_items TO quarry_loading;


--
-- Name: TABLE answer_cache; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.answer_cache TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.answer_cache TO quarry_loading;


--
-- Name: TABLE campaign_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.campaign_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.campaign_embeddings TO quarry_loading;


--
-- Name: TABLE campaigns; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.campaigns TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.campaigns TO quarry_loading;


--
-- Name: TABLE collection_changes; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.collection_changes TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.collection_changes TO quarry_loading;


--
-- Name: TABLE collection_rows; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.collection_rows TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.collection_rows TO quarry_loading;


--
-- Name: TABLE collection_windows; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.collection_windows TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.collection_windows TO quarry_loading;


--
-- Name: TABLE collections; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.collections TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.collections TO quarry_loading;


--
-- Name: SEQUENCE collections_id_seq; Type: ACL; Schema: quarry; Owner: -
--

GRANT USAGE ON SEQUENCE quarry.collections_id_seq TO quarry_serving;
GRANT USAGE ON SEQUENCE quarry.collections_id_seq TO quarry_loading;


--
-- Name: TABLE company_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.company_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.company_embeddings TO quarry_loading;


--
-- Name: TABLE company_synonyms; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.company_synonyms TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.company_synonyms TO quarry_loading;


--
-- Name: TABLE conversations; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.conversations TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.conversations TO quarry_loading;


--
-- Name: TABLE credit_accounts; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.credit_accounts TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.credit_accounts TO quarry_loading;


--
-- Name: TABLE credit_ledger; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT ON TABLE quarry.credit_ledger TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.credit_ledger TO quarry_loading;


--
-- Name: SEQUENCE credit_ledger_entry_number_seq; Type: ACL; Schema: quarry; Owner: -
--

GRANT USAGE ON SEQUENCE quarry.credit_ledger_entry_number_seq TO quarry_serving;
GRANT USAGE ON SEQUENCE quarry.credit_ledger_entry_number_seq TO quarry_loading;


--
-- Name: TABLE credits_spent; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,UPDATE ON TABLE quarry.credits_spent TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.credits_spent TO quarry_loading;


--
-- Name: TABLE document_section_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.document_section_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.document_section_embeddings TO quarry_loading;


--
-- Name: TABLE document_sections; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.document_sections TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.document_sections TO quarry_loading;


--
-- Name: TABLE embedding_claims; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.embedding_claims TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.embedding_claims TO quarry_loading;


--
-- Name: TABLE embedding_model; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.embedding_model TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.embedding_model TO quarry_loading;


--
-- Name: TABLE embedding_progress; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.embedding_progress TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.embedding_progress TO quarry_loading;


--
-- Name: TABLE experience_card_child_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.experience_card_child_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.experience_card_child_embeddings TO quarry_loading;


--
-- Name: TABLE experience_card_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.experience_card_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.experience_card_embeddings TO quarry_loading;


--
-- Name: TABLE facet_values; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.facet_values TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.facet_values TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.facet_values TO quarry_loading;


--
-- Name: TABLE facet_words; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.facet_words TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.facet_words TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.facet_words TO quarry_loading;


--
-- Name: TABLE idempotency_keys; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.idempotency_keys TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.idempotency_keys TO quarry_loading;


--
-- Name: TABLE key_statement_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.key_statement_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.key_statement_embeddings TO quarry_loading;


--
-- Name: TABLE key_statements; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.key_statements TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.key_statements TO quarry_loading;


--
-- Name: TABLE lexeme_counts; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.lexeme_counts TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.lexeme_counts TO quarry_loading;


--
-- Name: TABLE loaded_files; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.loaded_files TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.loaded_files TO quarry_loading;


--
-- Name: TABLE loaded_samples; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.loaded_samples TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.loaded_samples TO quarry_loading;


--
-- Name: TABLE matter_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.matter_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.matter_embeddings TO quarry_loading;


--
-- Name: TABLE matters; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.matters TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.matters TO quarry_loading;


--
-- Name: TABLE meetings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.meetings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.meetings TO quarry_loading;


--
-- Name: TABLE motion_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.motion_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.motion_embeddings TO quarry_loading;


--
-- Name: TABLE motions; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.motions TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.motions TO quarry_loading;


--
-- Name: TABLE onto_documents; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_documents TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_documents TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_documents TO quarry_loading;


--
-- Name: TABLE onto_goals; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_goals TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_goals TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_goals TO quarry_loading;


--
-- Name: TABLE onto_milestones; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_milestones TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_milestones TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_milestones TO quarry_loading;


--
-- Name: TABLE onto_outputs; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_outputs TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_outputs TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_outputs TO quarry_loading;


--
-- Name: TABLE onto_plans; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_plans TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_plans TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_plans TO quarry_loading;


--
-- Name: TABLE onto_requirements; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_requirements TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_requirements TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_requirements TO quarry_loading;


--
-- Name: TABLE onto_tasks; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_tasks TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_tasks TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_tasks TO quarry_loading;


--
-- Name: TABLE onto_entities; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_entities TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_entities TO quarry_loading;
GRANT SELECT ON TABLE quarry.onto_entities TO quarry_ontology_reader;


--
-- Name: TABLE onto_projects; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_projects TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_projects TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_projects TO quarry_loading;


--
-- Name: TABLE onto_search_entries; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.onto_search_entries TO quarry_ontology_reader;
GRANT SELECT ON TABLE quarry.onto_search_entries TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.onto_search_entries TO quarry_loading;


--
-- Name: TABLE quarry_functions; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.quarry_functions TO quarry_serving;
GRANT SELECT,MAINTAIN ON TABLE quarry.quarry_functions TO quarry_loading;


--
-- Name: TABLE quarry_migrations; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.quarry_migrations TO quarry_serving;
GRANT SELECT,MAINTAIN ON TABLE quarry.quarry_migrations TO quarry_loading;


--
-- Name: TABLE rate_windows; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.rate_windows TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.rate_windows TO quarry_loading;


--
-- Name: TABLE run_events; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.run_events TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.run_events TO quarry_loading;


--
-- Name: TABLE run_streams; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.run_streams TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.run_streams TO quarry_loading;


--
-- Name: TABLE saved_search_results; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.saved_search_results TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.saved_search_results TO quarry_loading;


--
-- Name: TABLE saved_searches; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.saved_searches TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.saved_searches TO quarry_loading;


--
-- Name: TABLE search_run_results; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.search_run_results TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.search_run_results TO quarry_loading;


--
-- Name: TABLE search_run_steps; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.search_run_steps TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.search_run_steps TO quarry_loading;


--
-- Name: TABLE search_runs; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE quarry.search_runs TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.search_runs TO quarry_loading;


--
-- Name: TABLE tenants; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.tenants TO quarry_serving;
GRANT SELECT,MAINTAIN ON TABLE quarry.tenants TO quarry_loading;


--
-- Name: TABLE text_changes; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.text_changes TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.text_changes TO quarry_loading;


--
-- Name: TABLE text_totals; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.text_totals TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.text_totals TO quarry_loading;


--
-- Name: TABLE transcript_segment_embeddings; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.transcript_segment_embeddings TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.transcript_segment_embeddings TO quarry_loading;


--
-- Name: TABLE transcript_segments; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.transcript_segments TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.transcript_segments TO quarry_loading;


--
-- Name: TABLE tuned_weights; Type: ACL; Schema: quarry; Owner: -
--

GRANT SELECT ON TABLE quarry.tuned_weights TO quarry_serving;
GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLE quarry.tuned_weights TO quarry_loading;


--
-- Name: DEFAULT PRIVILEGES FOR SEQUENCES; Type: DEFAULT ACL; Schema: quarry; Owner: -
--

ALTER DEFAULT PRIVILEGES FOR ROLE quarry IN SCHEMA quarry GRANT USAGE ON SEQUENCES TO quarry_serving;
ALTER DEFAULT PRIVILEGES FOR ROLE quarry IN SCHEMA quarry GRANT USAGE ON SEQUENCES TO quarry_loading;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: quarry; Owner: -
--

ALTER DEFAULT PRIVILEGES FOR ROLE quarry IN SCHEMA quarry GRANT SELECT ON TABLES TO quarry_serving;
ALTER DEFAULT PRIVILEGES FOR ROLE quarry IN SCHEMA quarry GRANT SELECT,INSERT,DELETE,TRUNCATE,MAINTAIN,UPDATE ON TABLES TO quarry_loading;


--
-- PostgreSQL database dump complete
--
