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
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


--
-- Name: vector; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;


--
-- Name: describe_records(text[], text[], text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.describe_records(p_types text[], p_ids text[], p_query text) RETURNS TABLE(type text, id text, title text, body text, topic text, speaker text, date date, meeting_id text, url text, snippet text)
    LANGUAGE sql STABLE
    AS $$
  with words as (
    select coalesce(string_agg(quote_literal(l.lexeme), ' | '), '')::tsquery as any_word
    from unnest(to_tsvector('english', p_query)) l
  )
  select r.*, ts_headline('english', translate(r.body, U&'\E000\E001', ''), w.any_word,
    U&'StartSel=\E000, StopSel=\E001, MaxFragments=2, MinWords=10, MaxWords=28, FragmentDelimiter=" … "')
  from words w, unnest(p_types, p_ids) with ordinality k (type, id, place),
    -- one index probe a record: the type is compared before the tables of other types are touched
    lateral (select * from record_texts t where t.type = k.type and t.id = k.id offset 0) r
  order by k.place
$$;


--
-- Name: hybrid_rank_records(regclass, regclass, text, public.halfvec, integer, double precision, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.hybrid_rank_records(p_table regclass, p_embeddings regclass, query_text text, query_embedding public.halfvec, match_count integer, full_text_weight double precision, semantic_weight double precision, rrf_k integer, date_from date, date_to date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  with full_text as (
    select t.id, t.text_score, row_number() over (order by t.text_score desc, t.id)::int as rank
    from rank_record_text(p_table, query_text, 2 * match_count, date_from, date_to) t
  ), semantic as (
    select s.id, s.similarity, row_number() over (order by s.similarity desc, s.id)::int as rank
    from rank_record_similarity(p_table, p_embeddings, query_embedding, 2 * match_count, date_from, date_to,
      query_requirements(query_text)) s
  )
  select id, coalesce(full_text_weight / (rrf_k + t.rank), 0) + coalesce(semantic_weight / (rrf_k + s.rank), 0),
    t.rank, s.rank, t.text_score, s.similarity
  from full_text t full join semantic s using (id)
  order by 2 desc, id
  limit match_count
$$;


--
-- Name: hybrid_search_agenda_items(text, public.halfvec, integer, double precision, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.hybrid_search_agenda_items(query_text text, query_embedding public.halfvec, match_count integer, full_text_weight double precision DEFAULT 1, semantic_weight double precision DEFAULT 1, rrf_k integer DEFAULT 50, date_from date DEFAULT NULL::date, date_to date DEFAULT NULL::date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select * from hybrid_rank_records('agenda_items', 'agenda_item_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to)
$$;


--
-- Name: hybrid_search_document_sections(text, public.halfvec, integer, double precision, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.hybrid_search_document_sections(query_text text, query_embedding public.halfvec, match_count integer, full_text_weight double precision DEFAULT 1, semantic_weight double precision DEFAULT 1, rrf_k integer DEFAULT 50, date_from date DEFAULT NULL::date, date_to date DEFAULT NULL::date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select * from hybrid_rank_records('document_sections', 'document_section_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to)
$$;


--
-- Name: hybrid_search_key_statements(text, public.halfvec, integer, double precision, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.hybrid_search_key_statements(query_text text, query_embedding public.halfvec, match_count integer, full_text_weight double precision DEFAULT 1, semantic_weight double precision DEFAULT 1, rrf_k integer DEFAULT 50, date_from date DEFAULT NULL::date, date_to date DEFAULT NULL::date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select * from hybrid_rank_records('key_statements', 'key_statement_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to)
$$;


--
-- Name: hybrid_search_matters(text, public.halfvec, integer, double precision, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.hybrid_search_matters(query_text text, query_embedding public.halfvec, match_count integer, full_text_weight double precision DEFAULT 1, semantic_weight double precision DEFAULT 1, rrf_k integer DEFAULT 50, date_from date DEFAULT NULL::date, date_to date DEFAULT NULL::date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select * from hybrid_rank_records('matters', 'matter_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to)
$$;


--
-- Name: hybrid_search_motions(text, public.halfvec, integer, double precision, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.hybrid_search_motions(query_text text, query_embedding public.halfvec, match_count integer, full_text_weight double precision DEFAULT 1, semantic_weight double precision DEFAULT 1, rrf_k integer DEFAULT 50, date_from date DEFAULT NULL::date, date_to date DEFAULT NULL::date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select * from hybrid_rank_records('motions', 'motion_embeddings', query_text, query_embedding, match_count,
    full_text_weight, semantic_weight, rrf_k, date_from, date_to)
$$;


--
-- Name: joined_names(text[]); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.joined_names(names text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_string(names, ', '::text);


--
-- Name: joined_text(text[]); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.joined_text(VARIADIC parts text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_string(parts, '
'::text);


--
-- Name: query_requirements(text); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.query_requirements(p_query text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT websearch_to_tsquery('english'::regconfig, COALESCE(string_agg(m.part[1], ' '::text), ''::text)) AS websearch_to_tsquery FROM regexp_matches(query_requirements.p_query, '((?:^|(?<=\s))-\s*(?:"[^"]*"?|[^\s"]+)|"[^"]+")'::text, 'g'::text) m(part));


--
-- Name: query_words(regclass, text, integer, double precision); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.query_words(p_table regclass, p_query text, p_max_words integer, p_max_candidates double precision) RETURNS TABLE(words text[], weights double precision[], candidates tsquery)
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  rare_below constant float8 := p_max_candidates / 10;
  co_occurrence constant float8 := 20;
  misspelling_similarity constant real := 0.4;
  misspelling_length constant int := 4;
  total float8;
  known_words text[];
  known_frequencies float8[];
  unknown text[];
begin
  select array_agg(l.lexeme) into words
  from unnest(to_tsvector('english', regexp_replace(p_query, '(^|\s)-("[^"]*"?|\S+)', ' ', 'g'))) l;
  if words is null then
    return;
  end if;

  select greatest(c.reltuples, 1) into total from pg_class c where c.oid = p_table;
  select s.most_common_elems::text::text[], s.most_common_elem_freqs::float8[] into known_words, known_frequencies
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'text_search'
  where c.oid = p_table;

  unknown := array(
    select u.word from unnest(words) u (word)
    where length(u.word) >= misspelling_length and not u.word = any(known_words));
  if cardinality(unknown) > 0 then
    execute format('select array(select u.word from unnest($1) u (word)'
      ' where not exists (select from %s r where r.text_search @@ quote_literal(u.word)::tsquery))', p_table)
      into unknown using unknown;
  end if;
  if cardinality(unknown) > 0 then
    words := array(
      select distinct coalesce((
        select k.word from unnest(known_words) k (word)
        where u.word = any(unknown) and similarity(k.word, u.word) >= misspelling_similarity
        order by similarity(k.word, u.word) desc, k.word limit 1), u.word)
      from unnest(words) u (word));
  end if;

  with counted as materialized (
    -- behind the frequencies of the words, the statistics hold the lowest of them
    select w.word, greatest(1, total * coalesce(
      known_frequencies[array_position(known_words, w.word)], known_frequencies[cardinality(known_words) + 1], 0.001)) as df
    from unnest(words) w (word)
    order by 2, 1 limit p_max_words
  ), options as (
    select 1 as turn, quote_literal(c.word) as part, c.df as expected from counted c where c.df <= rare_below
    union all
    select 2, quote_literal(a.word) || ' & ' || quote_literal(b.word), least(a.df, b.df, co_occurrence * a.df * b.df / total)
    from counted a join counted b on (a.df, a.word) < (b.df, b.word) where a.df > rare_below
    union all
    select 3, quote_literal(c.word), c.df from counted c where c.df > rare_below
  ), taken as (
    select o.part, row_number() over in_order as place, sum(o.expected) over in_order as so_far
    from options o window in_order as (order by o.turn, o.expected, o.part)
  )
  select array_agg(c.word order by c.df, c.word), array_agg(ln(1 + (total - c.df + 0.5) / (c.df + 0.5)) order by c.df, c.word),
    (select string_agg(t.part, ' | ' order by t.place)::tsquery from taken t where t.so_far <= p_max_candidates or t.place = 1)
  into words, weights, candidates
  from counted c;
  return next;
end
$_$;


--
-- Name: rank_record_similarity(regclass, regclass, public.halfvec, integer, date, date, tsquery); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.rank_record_similarity(p_table regclass, p_embeddings regclass, p_embedding public.halfvec, p_limit integer, p_from date DEFAULT NULL::date, p_to date DEFAULT NULL::date, p_required tsquery DEFAULT NULL::tsquery) RETURNS TABLE(id text, similarity double precision)
    LANGUAGE plpgsql STABLE
    SET "hnsw.ef_search" TO '128'
    SET "hnsw.iterative_scan" TO 'relaxed_order'
    AS $_$
declare
  exact_below constant int := 2000;
  windows_per_row constant float8 := 1.5;
  conditions constant text := concat_ws(' and ',
    case when p_from is not null then 'r.date >= $2' end,
    case when p_to is not null then 'r.date <= $3' end,
    case when numnode(p_required) > 0 then 'r.text_search @@ $4' end);
  source text := format('%s e', p_embeddings);
  rows_left int;
begin
  if p_embedding is null then
    return;
  end if;
  if conditions <> '' then
    execute format('select count(*) from (select 1 from %s r where %s limit %s) few', p_table, conditions, exact_below + 1)
      into rows_left using p_embedding, p_from, p_to, p_required;
    source := format('%s e join %s r on r.id = e.record_id where %s', p_embeddings, p_table, conditions);
  end if;

  return query execute format(
    'select w.record_id, 1 - min(w.distance) from ('
    '  select e.record_id, e.embedding <=> $1 as distance from %s%s'
    ') w group by w.record_id order by 2 desc, 1 limit $5',
    source,
    case when rows_left <= exact_below then '' else format(' order by e.embedding <=> $1 limit %s', ceil(p_limit * windows_per_row)) end)
    using p_embedding, p_from, p_to, p_required, p_limit;
end
$_$;


--
-- Name: rank_record_text(regclass, text, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.rank_record_text(p_table regclass, p_query text, p_limit integer, p_from date DEFAULT NULL::date, p_to date DEFAULT NULL::date) RETURNS TABLE(id text, text_score double precision)
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  max_matches constant int := 50000;  -- rows with every word that are ranked at most
  max_candidates constant float8 := 30 * p_limit;  -- rows with some of the words that are ranked, as expected from statistics
  max_words constant int := 8;  -- rarest words of a long question that are looked at
  in_dates constant text := case when p_from is null and p_to is null then ''
    else ' and r.date >= coalesce($3, ''-infinity'') and r.date <= coalesce($4, ''infinity'')' end;
  all_words constant tsquery := websearch_to_tsquery('english', p_query);
  required tsquery;
  words text[];
  weights float8[];
  some_words tsquery;
  found int;
begin
  if numnode(all_words) = 0 then
    return;
  end if;

  return query execute format(
    'select m.id, 1 + m.rank / (1 + m.rank) from ('
    '  select r.id, ts_rank_cd(r.text_search, $1)::float8 as rank from %s r where r.text_search @@ $1%s limit %s'
    ') m order by m.rank desc, m.id limit $2', p_table, in_dates, max_matches)
    using all_words, p_limit, p_from, p_to;
  get diagnostics found = row_count;
  if found >= p_limit / 2 then
    return;
  end if;

  select w.words, w.weights, w.candidates into words, weights, some_words
  from query_words(p_table, p_query, max_words, max_candidates) w;
  if some_words is null then
    return;
  end if;
  required := query_requirements(p_query);
  if numnode(required) > 0 then
    some_words := some_words && required;
  end if;

  return query execute format(
    'select m.id, least(0.999, m.rank) from ('
    '  select r.id, (%s) / (%s * ln((1 + length(r.text_search))::float8)) as rank'
    '  from %s r where r.text_search @@ $1 and not r.text_search @@ $5%s'
    ') m order by m.rank desc, m.id limit $2',
    (select string_agg(format('%s * ts_rank(r.text_search, %L::tsquery)', u.weight, quote_literal(u.word)), ' + ')
     from unnest(words, weights) u (word, weight)),
    -- ts_rank of one word stays below 0.1 however often it occurs
    (select 0.1 * sum(u.weight) from unnest(weights) u (weight)),
    p_table, in_dates)
    using some_words, p_limit - found, p_from, p_to, all_words;
end
$_$;


--
-- Name: search_transcript_segments(text, integer, double precision, integer, date, date); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.search_transcript_segments(query_text text, match_count integer, full_text_weight double precision DEFAULT 1, rrf_k integer DEFAULT 50, date_from date DEFAULT NULL::date, date_to date DEFAULT NULL::date) RETURNS TABLE(id text, rank_score double precision, text_rank integer, semantic_rank integer, text_score double precision, similarity double precision)
    LANGUAGE sql STABLE
    AS $$
  select t.id, full_text_weight / (rrf_k + t.rank), t.rank, null::int, t.text_score, null::double precision
  from (
    select m.id, m.text_score, row_number() over (order by m.text_score desc, m.id)::int as rank
    from rank_record_text('transcript_segments', query_text, match_count, date_from, date_to) m
  ) t
  order by t.rank
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: agenda_item_embeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agenda_item_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY public.agenda_item_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: agenda_items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.agenda_items (
    id text NOT NULL,
    meeting_id text,
    matter_id text,
    item_number text,
    title text NOT NULL,
    description text,
    category text,
    date date,
    url text,
    text_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, public.joined_text(VARIADIC ARRAY[title, description, category]))) STORED NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(public.joined_text(VARIADIC ARRAY[title, description]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL
);


--
-- Name: answer_cache; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.answer_cache (
    id text NOT NULL,
    query text NOT NULL,
    answer text NOT NULL,
    sources jsonb NOT NULL,
    suggested_followups text[] DEFAULT '{}'::text[] NOT NULL,
    source_count integer NOT NULL,
    confidence text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT answer_cache_confidence_check CHECK ((confidence = ANY (ARRAY['high'::text, 'medium'::text, 'low'::text])))
);


--
-- Name: document_section_embeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.document_section_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY public.document_section_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: document_sections; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.document_sections (
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
    text_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, public.joined_text(VARIADIC ARRAY[document_title, heading, body]))) STORED NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(public.joined_text(VARIADIC ARRAY[heading, body]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL
);


--
-- Name: embedding_model; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.embedding_model (
    only_row boolean DEFAULT true NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedding_model_only_row_check CHECK (only_row)
);


--
-- Name: key_statement_embeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.key_statement_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY public.key_statement_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: key_statements; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.key_statements (
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
    text_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, public.joined_text(VARIADIC ARRAY[statement_text, context, speaker_name, speaker_role]))) STORED NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(public.joined_text(VARIADIC ARRAY[statement_text, context]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL
);


--
-- Name: loaded_samples; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.loaded_samples (
    domain text NOT NULL,
    sha256 text NOT NULL,
    loaded_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: matter_embeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.matter_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY public.matter_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: matters; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.matters (
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
    text_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, public.joined_text(VARIADIC ARRAY[title, summary, matter_type, status, public.joined_names(sponsors)]))) STORED NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(public.joined_text(VARIADIC ARRAY[title, summary]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL
);


--
-- Name: meetings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.meetings (
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
-- Name: motion_embeddings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.motion_embeddings (
    record_id text NOT NULL,
    window_number smallint NOT NULL,
    embedding public.halfvec(384) NOT NULL
);
ALTER TABLE ONLY public.motion_embeddings ALTER COLUMN embedding SET STORAGE PLAIN;


--
-- Name: motions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.motions (
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
    text_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, public.joined_text(VARIADIC ARRAY[plain_english_summary, text_content, result, mover, seconder, public.joined_names(votes_for), public.joined_names(votes_against), public.joined_names(abstained)]))) STORED NOT NULL,
    content_hash text GENERATED ALWAYS AS (md5(public.joined_text(VARIADIC ARRAY[plain_english_summary, text_content]))) STORED NOT NULL,
    embedded_hash text,
    refused_hash text,
    refusals smallint DEFAULT 0 NOT NULL
);


--
-- Name: quarry_functions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.quarry_functions (
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: quarry_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.quarry_migrations (
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: rate_windows; Type: TABLE; Schema: public; Owner: -
--

CREATE UNLOGGED TABLE public.rate_windows (
    caller text NOT NULL,
    route_class text NOT NULL,
    window_start timestamp with time zone NOT NULL,
    requests integer NOT NULL
);


--
-- Name: transcript_segments; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.transcript_segments (
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
    text_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, public.joined_text(VARIADIC ARRAY[text_content, speaker_name]))) STORED NOT NULL
);


--
-- Name: record_texts; Type: VIEW; Schema: public; Owner: -
--

CREATE VIEW public.record_texts AS
 SELECT 'motion'::text AS type,
    m.id,
    COALESCE(m.plain_english_summary, "left"(m.text_content, 160)) AS title,
    public.joined_text(VARIADIC ARRAY[m.plain_english_summary, (((('Result: '::text || m.result) ||
        CASE
            WHEN (cardinality(m.votes_against) > 0) THEN ('. Against: '::text || public.joined_names(m.votes_against))
            ELSE ''::text
        END) ||
        CASE
            WHEN (cardinality(m.abstained) > 0) THEN ('. Abstained: '::text || public.joined_names(m.abstained))
            ELSE ''::text
        END) || '.'::text), m.text_content, ((('Moved by '::text || m.mover) || COALESCE((', seconded by '::text || m.seconder), ''::text)) || '.'::text),
        CASE
            WHEN (cardinality(m.votes_for) > 0) THEN (('For: '::text || public.joined_names(m.votes_for)) || '.'::text)
            ELSE NULL::text
        END]) AS body,
    COALESCE(t.title, a.title) AS topic,
    NULL::text AS speaker,
    m.date,
    m.meeting_id,
    m.url
   FROM ((public.motions m
     LEFT JOIN public.matters t ON ((t.id = m.matter_id)))
     LEFT JOIN public.agenda_items a ON ((a.id = m.agenda_item_id)))
UNION ALL
 SELECT 'agenda_item'::text AS type,
    a.id,
    a.title,
    COALESCE(a.description, a.title) AS body,
    COALESCE(t.title, a.title) AS topic,
    NULL::text AS speaker,
    a.date,
    a.meeting_id,
    a.url
   FROM (public.agenda_items a
     LEFT JOIN public.matters t ON ((t.id = a.matter_id)))
UNION ALL
 SELECT 'matter'::text AS type,
    t.id,
    t.title,
    public.joined_text(VARIADIC ARRAY[t.summary, (('Status: '::text || t.status) || '.'::text)]) AS body,
    t.title AS topic,
    NULL::text AS speaker,
    t.date,
    t.meeting_id,
    t.url
   FROM public.matters t
UNION ALL
 SELECT 'document_section'::text AS type,
    d.id,
    (d.document_title || COALESCE((': '::text || d.heading), ''::text)) AS title,
    d.body,
    COALESCE(t.title, d.document_title) AS topic,
    NULL::text AS speaker,
    d.date,
    d.meeting_id,
    d.url
   FROM (public.document_sections d
     LEFT JOIN public.matters t ON ((t.id = d.matter_id)))
UNION ALL
 SELECT 'key_statement'::text AS type,
    k.id,
    (k.speaker_name || COALESCE((', '::text || k.speaker_role), ''::text)) AS title,
    public.joined_text(VARIADIC ARRAY[regexp_replace(k.statement_text, '\s*\n\s*'::text, ' '::text, 'g'::text), k.context]) AS body,
    COALESCE(t.title, a.title) AS topic,
    k.speaker_name AS speaker,
    k.date,
    k.meeting_id,
    k.url
   FROM ((public.key_statements k
     LEFT JOIN public.agenda_items a ON ((a.id = k.agenda_item_id)))
     LEFT JOIN public.matters t ON ((t.id = a.matter_id)))
UNION ALL
 SELECT 'transcript_segment'::text AS type,
    s.id,
    (COALESCE(s.speaker_name, 'Unnamed speaker'::text) || COALESCE((', '::text || s.speaker_role), ''::text)) AS title,
    s.text_content AS body,
    COALESCE(t.title, a.title) AS topic,
    s.speaker_name AS speaker,
    s.date,
    s.meeting_id,
    s.url
   FROM ((public.transcript_segments s
     LEFT JOIN public.agenda_items a ON ((a.id = s.agenda_item_id)))
     LEFT JOIN public.matters t ON ((t.id = a.matter_id)));


--
-- Name: search_run_results; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.search_run_results (
    run_id uuid NOT NULL,
    rank integer NOT NULL,
    result_type text NOT NULL,
    result_id text NOT NULL,
    score double precision NOT NULL
);


--
-- Name: search_run_steps; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.search_run_steps (
    run_id uuid NOT NULL,
    step_number integer NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    started_ms double precision NOT NULL,
    duration_ms double precision NOT NULL,
    prompt_tokens integer DEFAULT 0 NOT NULL,
    completion_tokens integer DEFAULT 0 NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT search_run_steps_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'degraded'::text, 'failed'::text])))
);


--
-- Name: search_runs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.search_runs (
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
    CONSTRAINT search_runs_status_check CHECK ((status = ANY (ARRAY['completed'::text, 'failed'::text, 'abandoned'::text])))
);


--
-- Name: agenda_item_embeddings agenda_item_embeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agenda_item_embeddings
    ADD CONSTRAINT agenda_item_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: agenda_items agenda_items_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agenda_items
    ADD CONSTRAINT agenda_items_pkey PRIMARY KEY (id);


--
-- Name: answer_cache answer_cache_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.answer_cache
    ADD CONSTRAINT answer_cache_pkey PRIMARY KEY (id);


--
-- Name: document_section_embeddings document_section_embeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_section_embeddings
    ADD CONSTRAINT document_section_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: document_sections document_sections_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_sections
    ADD CONSTRAINT document_sections_pkey PRIMARY KEY (id);


--
-- Name: embedding_model embedding_model_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.embedding_model
    ADD CONSTRAINT embedding_model_pkey PRIMARY KEY (only_row);


--
-- Name: key_statement_embeddings key_statement_embeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_statement_embeddings
    ADD CONSTRAINT key_statement_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: key_statements key_statements_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_statements
    ADD CONSTRAINT key_statements_pkey PRIMARY KEY (id);


--
-- Name: loaded_samples loaded_samples_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.loaded_samples
    ADD CONSTRAINT loaded_samples_pkey PRIMARY KEY (domain);


--
-- Name: matter_embeddings matter_embeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.matter_embeddings
    ADD CONSTRAINT matter_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: matters matters_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.matters
    ADD CONSTRAINT matters_pkey PRIMARY KEY (id);


--
-- Name: meetings meetings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.meetings
    ADD CONSTRAINT meetings_pkey PRIMARY KEY (id);


--
-- Name: motion_embeddings motion_embeddings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.motion_embeddings
    ADD CONSTRAINT motion_embeddings_pkey PRIMARY KEY (record_id, window_number);


--
-- Name: motions motions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.motions
    ADD CONSTRAINT motions_pkey PRIMARY KEY (id);


--
-- Name: quarry_functions quarry_functions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.quarry_functions
    ADD CONSTRAINT quarry_functions_pkey PRIMARY KEY (name);


--
-- Name: quarry_migrations quarry_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.quarry_migrations
    ADD CONSTRAINT quarry_migrations_pkey PRIMARY KEY (name);


--
-- Name: rate_windows rate_windows_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_windows
    ADD CONSTRAINT rate_windows_pkey PRIMARY KEY (caller, route_class, window_start);


--
-- Name: search_run_results search_run_results_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_run_results
    ADD CONSTRAINT search_run_results_pkey PRIMARY KEY (run_id, rank);


--
-- Name: search_run_steps search_run_steps_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_run_steps
    ADD CONSTRAINT search_run_steps_pkey PRIMARY KEY (run_id, step_number);


--
-- Name: search_runs search_runs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_runs
    ADD CONSTRAINT search_runs_pkey PRIMARY KEY (id);


--
-- Name: transcript_segments transcript_segments_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transcript_segments
    ADD CONSTRAINT transcript_segments_pkey PRIMARY KEY (id);


--
-- Name: agenda_item_embeddings_hnsw; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agenda_item_embeddings_hnsw ON public.agenda_item_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: agenda_items_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agenda_items_date ON public.agenda_items USING btree (date);


--
-- Name: agenda_items_matter_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agenda_items_matter_id ON public.agenda_items USING btree (matter_id);


--
-- Name: agenda_items_meeting_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agenda_items_meeting_id ON public.agenda_items USING btree (meeting_id);


--
-- Name: agenda_items_not_embedded; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agenda_items_not_embedded ON public.agenda_items USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: agenda_items_text_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX agenda_items_text_search ON public.agenda_items USING gin (text_search) WITH (fastupdate=off);


--
-- Name: answer_cache_expires_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX answer_cache_expires_at ON public.answer_cache USING btree (expires_at);


--
-- Name: document_section_embeddings_hnsw; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX document_section_embeddings_hnsw ON public.document_section_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: document_sections_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX document_sections_date ON public.document_sections USING btree (date);


--
-- Name: document_sections_matter_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX document_sections_matter_id ON public.document_sections USING btree (matter_id);


--
-- Name: document_sections_meeting_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX document_sections_meeting_id ON public.document_sections USING btree (meeting_id);


--
-- Name: document_sections_not_embedded; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX document_sections_not_embedded ON public.document_sections USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: document_sections_text_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX document_sections_text_search ON public.document_sections USING gin (text_search) WITH (fastupdate=off);


--
-- Name: key_statement_embeddings_hnsw; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_statement_embeddings_hnsw ON public.key_statement_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: key_statements_agenda_item_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_statements_agenda_item_id ON public.key_statements USING btree (agenda_item_id);


--
-- Name: key_statements_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_statements_date ON public.key_statements USING btree (date);


--
-- Name: key_statements_meeting_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_statements_meeting_id ON public.key_statements USING btree (meeting_id);


--
-- Name: key_statements_not_embedded; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_statements_not_embedded ON public.key_statements USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: key_statements_text_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX key_statements_text_search ON public.key_statements USING gin (text_search) WITH (fastupdate=off);


--
-- Name: matter_embeddings_hnsw; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX matter_embeddings_hnsw ON public.matter_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: matters_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX matters_date ON public.matters USING btree (date);


--
-- Name: matters_meeting_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX matters_meeting_id ON public.matters USING btree (meeting_id);


--
-- Name: matters_not_embedded; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX matters_not_embedded ON public.matters USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: matters_text_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX matters_text_search ON public.matters USING gin (text_search) WITH (fastupdate=off);


--
-- Name: meetings_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX meetings_date ON public.meetings USING btree (date);


--
-- Name: motion_embeddings_hnsw; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motion_embeddings_hnsw ON public.motion_embeddings USING hnsw (embedding public.halfvec_cosine_ops) WITH (ef_construction='128');


--
-- Name: motions_agenda_item_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motions_agenda_item_id ON public.motions USING btree (agenda_item_id);


--
-- Name: motions_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motions_date ON public.motions USING btree (date);


--
-- Name: motions_matter_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motions_matter_id ON public.motions USING btree (matter_id);


--
-- Name: motions_meeting_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motions_meeting_id ON public.motions USING btree (meeting_id);


--
-- Name: motions_not_embedded; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motions_not_embedded ON public.motions USING btree (id) WHERE (embedded_hash IS DISTINCT FROM content_hash);


--
-- Name: motions_text_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX motions_text_search ON public.motions USING gin (text_search) WITH (fastupdate=off);


--
-- Name: rate_windows_window_start; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rate_windows_window_start ON public.rate_windows USING btree (window_start);


--
-- Name: search_runs_started_at; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX search_runs_started_at ON public.search_runs USING btree (started_at);


--
-- Name: transcript_segments_agenda_item_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX transcript_segments_agenda_item_id ON public.transcript_segments USING btree (agenda_item_id);


--
-- Name: transcript_segments_date; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX transcript_segments_date ON public.transcript_segments USING btree (date);


--
-- Name: transcript_segments_meeting_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX transcript_segments_meeting_id ON public.transcript_segments USING btree (meeting_id);


--
-- Name: transcript_segments_text_search; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX transcript_segments_text_search ON public.transcript_segments USING gin (text_search) WITH (fastupdate=off);


--
-- Name: agenda_item_embeddings agenda_item_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agenda_item_embeddings
    ADD CONSTRAINT agenda_item_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES public.agenda_items(id) ON DELETE CASCADE;


--
-- Name: agenda_items agenda_items_matter_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agenda_items
    ADD CONSTRAINT agenda_items_matter_id_fkey FOREIGN KEY (matter_id) REFERENCES public.matters(id);


--
-- Name: agenda_items agenda_items_meeting_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.agenda_items
    ADD CONSTRAINT agenda_items_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES public.meetings(id);


--
-- Name: document_section_embeddings document_section_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_section_embeddings
    ADD CONSTRAINT document_section_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES public.document_sections(id) ON DELETE CASCADE;


--
-- Name: document_sections document_sections_matter_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_sections
    ADD CONSTRAINT document_sections_matter_id_fkey FOREIGN KEY (matter_id) REFERENCES public.matters(id);


--
-- Name: document_sections document_sections_meeting_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.document_sections
    ADD CONSTRAINT document_sections_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES public.meetings(id);


--
-- Name: key_statement_embeddings key_statement_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_statement_embeddings
    ADD CONSTRAINT key_statement_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES public.key_statements(id) ON DELETE CASCADE;


--
-- Name: key_statements key_statements_agenda_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_statements
    ADD CONSTRAINT key_statements_agenda_item_id_fkey FOREIGN KEY (agenda_item_id) REFERENCES public.agenda_items(id);


--
-- Name: key_statements key_statements_meeting_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.key_statements
    ADD CONSTRAINT key_statements_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES public.meetings(id);


--
-- Name: matter_embeddings matter_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.matter_embeddings
    ADD CONSTRAINT matter_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES public.matters(id) ON DELETE CASCADE;


--
-- Name: matters matters_meeting_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.matters
    ADD CONSTRAINT matters_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES public.meetings(id);


--
-- Name: motion_embeddings motion_embeddings_record_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.motion_embeddings
    ADD CONSTRAINT motion_embeddings_record_id_fkey FOREIGN KEY (record_id) REFERENCES public.motions(id) ON DELETE CASCADE;


--
-- Name: motions motions_agenda_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.motions
    ADD CONSTRAINT motions_agenda_item_id_fkey FOREIGN KEY (agenda_item_id) REFERENCES public.agenda_items(id);


--
-- Name: motions motions_matter_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.motions
    ADD CONSTRAINT motions_matter_id_fkey FOREIGN KEY (matter_id) REFERENCES public.matters(id);


--
-- Name: motions motions_meeting_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.motions
    ADD CONSTRAINT motions_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES public.meetings(id);


--
-- Name: search_run_results search_run_results_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_run_results
    ADD CONSTRAINT search_run_results_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.search_runs(id) ON DELETE CASCADE;


--
-- Name: search_run_steps search_run_steps_run_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.search_run_steps
    ADD CONSTRAINT search_run_steps_run_id_fkey FOREIGN KEY (run_id) REFERENCES public.search_runs(id) ON DELETE CASCADE;


--
-- Name: transcript_segments transcript_segments_agenda_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transcript_segments
    ADD CONSTRAINT transcript_segments_agenda_item_id_fkey FOREIGN KEY (agenda_item_id) REFERENCES public.agenda_items(id);


--
-- Name: transcript_segments transcript_segments_meeting_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.transcript_segments
    ADD CONSTRAINT transcript_segments_meeting_id_fkey FOREIGN KEY (meeting_id) REFERENCES public.meetings(id);


--
-- PostgreSQL database dump complete
--
