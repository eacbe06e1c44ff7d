// Types of Quarry's HTTP interface, made from docs/api/openapi.json by tools/typescript_client.py; `make docs` writes this file.

export type Json = string | number | boolean | null | Json[] | {[name: string]: Json};
/** An event of a stream; docs/api holds the schemas of all. */
export interface StreamEvent { type: string; [field: string]: any }

export interface Options { token?: string; fetch?: typeof fetch }

/** An answer that is an error: a problem as in RFC 9457. */
export class QuarryError extends Error {
  readonly status: number;
  readonly problem: {title?: string; detail?: string; request_id?: string; errors?: {pointer: string; message: string}[]};
}

type Inputs<R> = Omit<R, 'answer' | 'streams'> & {headers?: Record<string, string>; signal?: AbortSignal};
type Asked<R> = {} extends Inputs<R> ? [input?: Inputs<R>] : [input: Inputs<R>];
type Streaming = {[R in keyof Routes]: Routes[R] extends {streams: true} ? R : never}[keyof Routes];

export class Quarry {
  constructor(base: string | URL, options?: Options);
  /** The answer of a route, named as in the API reference: `call('GET /records/search', {query: {q: 'elm'}})`. */
  call<R extends keyof Routes>(route: R, ...input: Asked<Routes[R]>): Promise<Routes[R]['answer']>;
  /** The events of a route, as they come. Leaving the loop ends the work. */
  stream<R extends Streaming>(route: R, ...input: Asked<Routes[R]>): AsyncGenerator<StreamEvent, void>;
}

/** One number over the rows, or over those that meet `where`. `share` is the part of all rows that meets `where`, 0 to 1. `ratio`, `difference`, `change` ((a - b) / b), `product` and `sum` compute it of two others, or numbers, in `of`: `{"name": "margin", "ratio": ["sum(profit)", "sum(amount)"]}`. `running` adds up the periods of the group, `previous` is the number `steps` periods before, `percent_of_total` the part of all groups, 0 to 1, and `rank` 1 for the highest. `measure` is one that the source declares; its name alone says the same. */
export type Aggregate_Input = {fn: "count" | "count_distinct" | "sum" | "avg" | "min" | "max" | "median" | "percentile" | "stddev" | "share" | "ratio" | "difference" | "change" | "product" | "running" | "previous" | "percent_of_total" | "rank" | "measure"; field?: string | null; where?: quarry__schema__algebra__Condition_Input[]; of?: (Aggregate_Input | number)[]; p?: number | null; steps?: number; name?: string | null};
/** One number over the rows, or over those that meet `where`. `share` is the part of all rows that meets `where`, 0 to 1. `ratio`, `difference`, `change` ((a - b) / b), `product` and `sum` compute it of two others, or numbers, in `of`: `{"name": "margin", "ratio": ["sum(profit)", "sum(amount)"]}`. `running` adds up the periods of the group, `previous` is the number `steps` periods before, `percent_of_total` the part of all groups, 0 to 1, and `rank` 1 for the highest. `measure` is one that the source declares; its name alone says the same. */
export type Aggregate_Output = {fn: "count" | "count_distinct" | "sum" | "avg" | "min" | "max" | "median" | "percentile" | "stddev" | "share" | "ratio" | "difference" | "change" | "product" | "running" | "previous" | "percent_of_total" | "rank" | "measure"; field?: string | null; where?: Condition_Output[]; of?: (Aggregate_Output | number)[]; p?: number | null; steps?: number; name?: string | null};
/** How many campaigns of a set there are for each value, most frequent first. One with several values counts for each. The empty value counts those without any; values that differ only in case, accents and outer spaces are one. `query` asks by `POST /query` for what the answer was found or counted by, where a query can say it: nothing that was found by its meaning. `sentence` says what came of it. `groups` are the first groups of such a query, in its order, and `columns` what their keys and numbers are. */
export type Aggregation = {channel?: {[name: string]: number}; sentiment?: {[name: string]: number}; value_prop?: {[name: string]: number}; groups?: AggregationGroup[]; columns?: ResultColumn[]; query?: {[name: string]: any} | null; sentence?: string | null};
/** A value, or the first day of a period; null stands for none or a blank one. `label` says it in words. `count` is how many rows have it, null where the query does not count; what was calculated from these rows has its own name (`sum(price)`). */
export type AggregationGroup = {value: string | number | boolean | null; label?: string | null; count?: number | null} & {[name: string]: any};
/** All hold. */
export type AllOf_Input = {all_of: quarry__schema__algebra__Condition_Input[]};
/** All hold. */
export type AllOf_Output = {all_of: Condition_Output[]};
export type Annotation = {type?: "url_citation"; url_citation: CitedUrl};
/** Any holds. */
export type AnyOf_Input = {any_of: quarry__schema__algebra__Condition_Input[]};
/** Any holds. */
export type AnyOf_Output = {any_of: Condition_Output[]};
/** Which records an answer is made from: of some days, and with values of facets (with a dash before its name: without). */
export type AskFilters = {from?: string | null; to?: string | null; facets?: {[name: string]: string[]}};
/** `POST /records/ask`. Only the last five turns of `history` are used. */
export type AskRequest = {question: string; history?: PriorTurn[]; types?: string[]; filters?: AskFilters; fresh?: boolean; understood?: Understood_Input | null};
/** An earlier question with its answer. */
export type AskedBefore = {question: string; answer?: string};
export type AssistantMessage = {role?: "assistant"; content: string; refusal?: null; annotations: Annotation[]};
/** One whole campaign. */
export type Campaign = {id: string; company: string; brand?: string | null; channel: string; offer?: string | null; key_value_props?: string[]; imagery_sentiment?: string | null; imagery_visual_style?: string | null; capture_date?: string | null; campaign_text: string; full_campaign_text?: string | null; url?: string | null};
/** Filters on campaigns; all that are given must hold, and what is left out filters nothing. `date_range` may be the word "recent": the 90 days before the latest capture. */
export type CampaignFilters = {channel?: string | string[]; company?: string | string[]; brand?: string | string[]; value_prop?: string | string[]; sentiment?: string | string[]; visual_style?: string | string[]; offer?: string | null; has_offer?: boolean | null; date_range?: DateRange | "recent" | null};
/** One message of the conversation so far. An assistant's may be long; what a user asks is 1 to 2,000 characters. */
export type ChatMessage = {role: "user" | "assistant"; content: string};
/** The answer. `campaigns` is the set it speaks of, at most 200 of them; `total` counts the whole set, `aggregation` too. `more`: there are more than were counted, and `total` is how many there are at least. Of very many, or of those with very many different values, `aggregation` is left out. `detected_filters` are those that the question was taken to mean, as the page's filters are given, and with them where they were applied; `understood` is all that the question was taken to say, negations and further conditions too. `statements` are those of a model with what the check found, `unsupported` the flagged ones in words, and `confidence` follows from them. */
export type ChatResponse = {response: string; campaigns: FoundCampaign[]; total: number; more?: boolean; aggregation?: Aggregation | null; unsupported?: string[]; statements?: CheckedStatement[]; confidence?: Confidence | null; suggestions: string[]; detectedFilters: {[name: string]: any}; understood?: Understood_Output | null; telemetry: quarry__campaigns__contract__Telemetry};
/** A statement of an answer, at `answer[start:end]`: borne out by what it rests on (`verified`), neither borne out nor contradicted (`plausible`), or contradicted or without anything behind it (`flagged`). `reason` says why it is not verified. */
export type CheckedStatement = {start: number; end: number; state: "verified" | "plausible" | "flagged"; reason?: string | null};
/** One aspect of an experience: an achievement, a project, a tool, … */
export type ChildCard = {id: string; child_type: string; title: string; headline?: string | null; summary?: string | null; context?: string | null; tags?: string[]};
export type Choice = {index?: 0; message: AssistantMessage; logprobs?: null; finish_reason?: "stop"};
/** The characters of `content`, from `start_index` to before `end_index`, that cite a web page. */
export type CitedUrl = {start_index: number; end_index: number; title: string; url: string};
/** What the client remembers of the conversation: the companies that the last answer referred to, best first. */
export type ClientContext = {previousCandidateIds?: string[]};
/** A type of record. `date` names the facet that dates it. `language` is the code (ISO 639-1) of the one that its records are in, by which numbers and dates are written; absent where they differ, or are in none that is known. `fields` and `related` are what a Query (`POST /query`) can name of it, its facets among them; `left_out` says which rows of its table it does not have. */
export type Collection = {name: string; label: string; description: string; facets: CollectionFacet[]; date?: string | null; language?: string | null; left_out?: string | null; fields?: SourceField[]; related?: RelatedRows[]; measures?: SourceMeasure[] | null};
/** What records can be filtered and counted by; `currency` is that of money, its ISO 4217 code. */
export type CollectionFacet = {name: string; kind: string; label: string; currency?: string | null};
/** `GET /collections`: the types of record that are declared, and as `sources` what else a Query can ask of. `degraded` names, as `collection:NAME`, those that cannot be read at the moment: they are left out. */
export type Collections = {collections: Collection[]; sources?: SourceDescription[]; degraded?: string[]};
/** One whole company, by the names of its columns. */
export type Company = {id: string; company_name: string; former_names?: string[]; tagline?: string | null; description?: string | null; product_description?: string | null; target_customer?: string | null; problem_solved?: string | null; differentiator?: string | null; niches?: string[]; sectors?: string[]; categories?: string[]; business_models?: string[]; status: "startup" | "acquired" | "public" | "closed"; website_url?: string | null; founded_year?: number | null; hq_city?: string | null; hq_country?: string | null; employee_count?: number | null; funding_stage?: "bootstrapped" | "pre_seed" | "seed" | "series_a" | "series_b" | "series_c" | "growth" | "public" | null; total_funding_usd?: number | null; founders?: string[]; acquirer?: string | null; closed_year?: number | null};
/** A field and a value, several `values` (any of them; for `!=` none), another field of the row (`{"field": "closed_on"}`) or the result of a query. `between` two values, inclusive; `contains` a piece of text or an element. Dates may count from today: `today-30d`. Text ignores case and outer spaces; null meets `!=`. */
export type Comparison_Input = {field: string; op?: "=" | "!=" | "<" | "<=" | ">" | ">=" | "between" | "contains" | "starts_with" | "ends_with" | "is_null" | "not_null"; value?: boolean | number | string | Query_Input | OtherField | null; values?: (boolean | number | string)[]};
/** A field and a value, several `values` (any of them; for `!=` none), another field of the row (`{"field": "closed_on"}`) or the result of a query. `between` two values, inclusive; `contains` a piece of text or an element. Dates may count from today: `today-30d`. Text ignores case and outer spaces; null meets `!=`. */
export type Comparison_Output = {field: string; op?: "=" | "!=" | "<" | "<=" | ">" | ">=" | "between" | "contains" | "starts_with" | "ends_with" | "is_null" | "not_null"; value?: boolean | number | string | Query_Output | OtherField | null; values?: (boolean | number | string)[]};
/** A whole answer. `id` ends in the id of its run. */
export type Completion = {id: string; object?: "chat.completion"; created: number; model: string; choices: Choice[]; usage: CompletionUsage};
/** `POST /v1/chat/completions`: the user's last message is the question, earlier messages are the conversation. `tools` are ignored, as `tool_choice` `auto` permits; a choice that requires a call is refused, as is any format but text. Sampling parameters and token limits are ignored. */
export type CompletionRequest = {model: string; messages: RequestMessage[]; stream?: boolean | null; stream_options?: StreamOptions | null; n?: number | null; tool_choice?: "auto" | "none" | null; function_call?: "auto" | "none" | null; response_format?: TextFormat | null};
/** Tokens of the chat model over all steps of the answer; 0 without a model. */
export type CompletionUsage = {prompt_tokens: number; completion_tokens: number; total_tokens: number};
export type Condition_Output = Comparison_Output | AnyOf_Output | AllOf_Output | Not_Output | Exists_Output | Words;
/** A condition in words, with its pointer: `/where/0` into the query, `/assumed/0`, `/preferred/0`, `/about` or `/like` beside it. It may be meant in any of `choices` instead: to change it, move the condition, and put one that is excluded in a `not`. */
export type ConditionChip = {label: string; pointer: string; choices?: ("required" | "assumed" | "preferred" | "excluded")[]};
/** How far an answer can be believed, and the ground of it in words. */
export type Confidence = {level: "high" | "medium" | "low"; label: string};
/** How a query was read; `evidence` is of `query_original`. */
export type Constraints_Output = {query_original?: string; query_cleaned?: string; must?: Must; should?: Should; exclude?: Exclude; like?: string | null; search_phrases?: string[]; query_embedding_text?: string; confidence_score?: number; evidence?: Evidence[]};
/** How to reach a person. */
export type Contact = {email?: string | null; phone?: string | null; links?: string[]};
/** A whole conversation. */
export type Conversation = {id: string; domain: "companies" | "people" | "records" | "ontology" | "campaigns"; title: string; turn_count: number; created_at: string; updated_at: string; turns: Turn[]};
/** `PATCH /me/conversations/{id}`: a new title, a new list of turns, or both. */
export type ConversationChange = {title?: string | null; turns?: Turn[] | null};
/** A conversation in the list. */
export type ConversationEntry = {id: string; domain: "companies" | "people" | "records" | "ontology" | "campaigns"; title: string; turn_count: number; created_at: string; updated_at: string};
/** `GET /me/conversations`, latest first. */
export type Conversations = {conversations: ConversationEntry[]};
/** `GET /credits`. */
export type CreditBalance = {balance: number};
/** Days of capture, both inclusive; either may be left out. */
export type DateRange = {from?: string | null; to?: string | null};
/** A page of people. Without `next_cursor` it is the last one. */
export type DiscoverResponse = {people: DiscoveredPerson[]; next_cursor: string | null};
/** A person with at least one visible card; `summaries` are those of the latest cards. */
export type DiscoveredPerson = {id: string; name: string | null; city: string | null; summaries: string[]};
/** One found entity. `snippet` is HTML-escaped but for the `<mark>` around the matched words; `score` is 0.6 · ts_rank + 0.4 · trigram similarity of the title; `project_name` is left out where the project is not the caller's. `near` is there, and true, where it is only near the query: it lacks a word of it. */
export type EntityResult = {type: "task" | "plan" | "goal" | "milestone" | "document" | "output" | "requirement"; id: string; project_id: string; project_name?: string | null; title: string; snippet: string; score: number; near?: true | null};
/** What went wrong. `param` is the wrong field, and `code` identifies the error. */
export type ErrorDetail = {message: string; type: "invalid_request_error" | "authentication_error" | "insufficient_quota" | "rate_limit_error" | "server_error"; param: string | null; code: string | null};
/** The characters of a question, from `start` to before `end`, that say `value` of a field, and how it is meant. */
export type Evidence = {field: string; value: string; start: number; end: number; assertion: "affirmed" | "required" | "preferred" | "negated" | "doubtful"};
/** What is never shown, in any tier. An experience of a required role that shows any of it rules a person out; with `ever`, any experience does. */
export type Exclude = {company_norm?: string[]; keywords?: string[]; team_norm?: string[]; location?: string[]; is_current?: boolean | null; open_to_work?: boolean | null; time_start?: string | null; time_end?: string | null; ever?: boolean | null};
/** A related row meets `where`. */
export type Exists_Input = {exists: string; where?: quarry__schema__algebra__Condition_Input[]};
/** A related row meets `where`. */
export type Exists_Output = {exists: string; where?: Condition_Output[]};
/** One experience of a person. In a search's answer `children` holds those that matched, elsewhere all of them. */
export type ExperienceCard = {id: string; title: string; company_name?: string | null; team?: string | null; intent_primary: string; intent_secondary?: string[]; domain?: string | null; sub_domain?: string | null; employment_type?: string | null; seniority_level?: string | null; location?: string | null; city?: string | null; country?: string | null; start_date?: string | null; end_date?: string | null; is_current?: boolean | null; summary?: string | null; skills?: string[]; children?: ChildCard[]};
/** A query that the question may ask for: in words, as a Query, and with its `probability` among all. `score` is that of the linear stage, `pair_score` that of the language model, where one is loaded. */
export type ExplainedQuery = {text: string; query: {[name: string]: any}; score: number; pair_score?: number | null; probability: number};
/** The statement that a query runs, with a place `%(p0)s` for each of its `parameters`. */
export type ExplainedStatement = {sql: string; parameters: {[name: string]: any}};
/** Words of the question, and what they may mean: a source, a field, values of fields, a number, days. */
export type ExplainedWords = {text: string; means: string};
/** How a question is read without a chat model. `chance` is how likely the first query is right, and `verdict` what follows of it; `unread` are the words that no part of the query says. `statement` is that of a `query` that was given. */
export type Explanation = {verdict: "confident" | "doubted" | "refused"; chance: number; unread: string[]; words: ExplainedWords[]; queries: ExplainedQuery[]; statement?: ExplainedStatement | null};
/** `POST /query/explain`: with a `query`, the statement of that is shown instead. Without `sources` the question is read over all sources, or over those of one `domain`. `after` is the question that it follows. */
export type ExplanationRequest = {question: string; query?: {[name: string]: any} | null; sources?: string[]; domain?: string | null; after?: string | null};
/** `POST /runs/{id}/feedback`. */
export type Feedback = {helpful: boolean; reason?: string | null};
/** A condition in words, and a pointer (RFC 6901) to the part of the query that says it. */
export type FilterChip = {label: string; pointer: string};
/** A campaign of an answer, and which conditions it meets and misses, in words. */
export type FoundCampaign = {id: string; company: string; brand?: string | null; channel: string; offer?: string | null; key_value_props?: string[]; imagery_sentiment?: string | null; imagery_visual_style?: string | null; capture_date?: string | null; campaign_text: string; full_campaign_text?: string | null; url?: string | null; meets?: string[]; misses?: string[]};
/** `GET /people/{id}?search_id=`: the profile within a search of the caller's. `contact` is there once it was unlocked. */
export type GatedProfile = {id: string; name: string | null; headline: string | null; bio: string | null; city: string | null; country: string | null; open_to_work: boolean; open_to_contact: boolean; work_preferred_locations: string[]; work_preferred_salary_min: number | null; cards: ExperienceCard[]; search_id: string; why_matched: string[]; contact_unlocked: boolean; contact: Contact | null};
/** A field to group by; a date by its `period`, a number by buckets of a `width` or between `borders`. With `limit`, only so many of its values within each of the groups before it, by `order`; on a group that others follow, so many of these. */
export type Group = {field: string; period?: "day" | "week" | "month" | "quarter" | "year" | null; width?: number | null; borders?: number[]; order?: Order[]; limit?: number | null};
/** `status` is "ok", or "unavailable" with 503 when the database does not answer. One that pauses when idle is "not asked", which would keep it awake, unless `deep` is given. `chat_model` is null without one. `models` says of each model on another machine whether it answers: "failing" while it is left alone because its calls kept failing, "recovering" while one call tries whether it answers again; fallbacks answer meanwhile. Absent without such models. `reader` says whether searches go to the replica ("ok") or to the database, while the replica lags ("behind") or does not answer ("unavailable"). Absent without one. */
export type Health = {status: "ok" | "unavailable"; database: "ok" | "unavailable" | "not asked"; embedding_model: string; chat_model: string | null; models?: {[name: string]: "ok" | "failing" | "recovering"} | null; reader?: "ok" | "behind" | "unavailable" | null};
/** One earlier message of the chat. */
export type HistoryMessage = {role: "user" | "assistant"; content: string};
/** The record's rank by its words and by its meaning, over all types; 1 is best. A half that did not find it is absent. */
export type Matched = {text_rank?: number | null; semantic_rank?: number | null};
export type Model = {id: string; object?: "model"; created?: number; owned_by?: "quarry"};
/** `GET /v1/models`: one for each domain that holds data. */
export type ModelList = {object?: "list"; data: Model[]};
/** Hard constraints. Names are lower case and trimmed; dates are YYYY-MM-DD; the salary is INR a year. */
export type Must = {company_norm?: string[]; school_norm?: string[]; team_norm?: string[]; intent_primary?: ("work" | "education" | "project" | "business" | "research" | "teaching" | "community" | "certification" | "achievement" | "career_break" | "other")[]; domain?: string[]; sub_domain?: string[]; employment_type?: ("full_time" | "part_time" | "contract" | "freelance" | "internship" | "self_employed" | "volunteer")[]; seniority_level?: ("intern" | "entry" | "mid" | "senior" | "lead" | "manager" | "director" | "executive" | "founder")[]; location_text?: string | null; city?: string | null; country?: string | null; time_start?: string | null; time_end?: string | null; started_from?: string | null; started_until?: string | null; ended_from?: string | null; ended_until?: string | null; is_current?: boolean | null; open_to_work_only?: boolean | null; preferred_locations?: string[]; or_preferred_locations?: string[]; offer_salary_inr_per_year?: number | null; experience_years_min?: number | null; experience_years_max?: number | null; role?: string[]; name?: string[]; text?: string[]};
/** `POST /me/conversations`. The default title is the first question. */
export type NewConversation = {domain: "companies" | "people" | "records" | "ontology" | "campaigns"; title?: string | null; turns: Turn[]};
/** `POST /me/searches`. `results` are the ones it shows now. The default name is the query. */
export type NewSavedSearch = {domain: "companies" | "people" | "records" | "ontology" | "campaigns"; query: string; name?: string | null; parameters?: {[name: string]: any}; results?: ResultKey[]};
/** It is false or unknown. */
export type Not_Input = {not: quarry__schema__algebra__Condition_Input};
/** It is false or unknown. */
export type Not_Output = {not: Condition_Output};
/** An answer about the caller's projects. `results` are the entities that it speaks of, at most 50, and `total` is how many there are in all. `understood` is the Query that it gives the result of. `statements` are those of a model with what the check found; `confidence` follows from them or, where a Query was understood, from how it was read. */
export type OntologyAnswer = {response: string; total: number; understood?: Understood_Output | null; statements?: CheckedStatement[]; confidence?: Confidence | null; telemetry: quarry__answering__contract__Telemetry; results: EntityResult[]};
/** `POST /ontology/ask`. Without `project_id`, asks about all projects; without `types`, about all types. */
export type OntologyAskRequest = {question: string; history?: AskedBefore[]; understood?: Understood_Input | null; project_id?: string | null; types?: ("task" | "plan" | "goal" | "milestone" | "document" | "output" | "requirement")[] | null};
/** `POST /ontology/search`. Without `project_id`, searches all projects; without `types`, all types. */
export type OntologySearchRequest = {query: string; project_id?: string | null; types?: ("task" | "plan" | "goal" | "milestone" | "document" | "output" | "requirement")[] | null};
/** The caller's own entities, best first, at most 50; `total` is how many there are in all, `message` says so in words. `more` is there, and true, where there are more than were counted, 10,000: `total` is then how many there are at least. */
export type OntologySearchResponse = {results: EntityResult[]; total: number; message: string; more?: true | null};
/** The body of every error below `/v1/`. */
export type OpenAIError = {error: ErrorDetail};
/** The results that it has not shown before, and when it was last opened. */
export type Opened = {new: ResultKey[]; opened_before: string};
/** `POST /me/searches/{id}/opened`: what the search shows now, best first. */
export type Opening = {results: ResultKey[]};
/** What rows are ordered by: a field, or of groups one that they are grouped by or an aggregate's name. */
export type Order = {by: string; direction?: "asc" | "desc"};
/** Another field. */
export type OtherField = {field: string};
/** `GET /me/answers/{id}`: whether an answer is the caller's, who may revoke it then, and whether it opens by its link. */
export type OwnAnswer = {id: string; revocable: boolean; shared: boolean};
/** `domains` are those that hold data; `sign_in` is null where nobody signs in; `prefix` comes before every path. `examples` are questions to try, for each domain whose sample data is loaded. */
export type PageConfig = {domains: string[]; sign_in: SignIn | null; prefix: string; examples?: {[name: string]: string[]}};
/** `POST /people/search`. What is given here overrides what the query says. Salaries are INR a year; `salary_max` is what is offered, `salary_min` is the recruiter's own note and filters nothing. */
export type PeopleSearchRequest = {query: string; open_to_work_only?: boolean | null; preferred_locations?: string[]; salary_min?: number | null; salary_max?: number | null; understood?: Understood_Input | null; constraints?: quarry__people__contract__Constraints | null};
/** The answer to a search, at most five people, best first. `fallback_tier` is a key of FALLBACK_TIERS. Where nobody can be shown, nothing is `charged`. `notice` says what the search could not do. */
export type PeopleSearchResponse = {search_id: string; people: PersonResult[]; understood?: Understood_Output | null; constraints: Constraints_Output; fallback_tier: number; relaxations: Relaxation[]; degraded: string[]; charged?: boolean; notice?: string | null};
/** One person found. `similarity_percent` is the score that people are put in order by, in hundredths and at most 100: no probability. The salary is INR a year. `meets` and `misses` are the conditions, in words; what was only preferred is met or not told. */
export type PersonResult = {id: string; name: string | null; headline: string | null; bio: string | null; similarity_percent: number | null; why_matched: string[]; open_to_work: boolean; open_to_contact: boolean; work_preferred_locations: string[]; work_preferred_salary_min: number | null; matched_cards: ExperienceCard[]; meets?: string[]; misses?: string[]};
/** A question that was asked before in this conversation, and its answer. `types` and `filters` are those that the answer was made from, as its `done` told them (`applied`): a follow-up without any of its own keeps those of the last turn. */
export type PriorTurn = {question: string; answer: string; types?: string[]; filters?: AskFilters};
/** The body of every error. */
export type Problem = {type: string; title: string; status: number; detail: string; request_id?: string | null; errors?: ProblemField[] | null};
/** One rejected field: a JSON pointer to it, and what a valid value is. */
export type ProblemField = {pointer: string; message: string};
/** The project that an entity belongs to. */
export type Project = {id: string; name: string; description?: string | null};
/** `GET /people/{id}/profile`: what everyone may see. */
export type PublicProfile = {id: string; name: string | null; headline: string | null; bio: string | null; city: string | null; country: string | null; open_to_work: boolean; open_to_contact: boolean; work_preferred_locations: string[]; work_preferred_salary_min: number | null; cards: ExperienceCard[]};
/** What is asked of a source. Without `aggregate` and `group` it asks for rows: the fields of `select`, or their key and title. With `aggregate` alone it asks for one row of numbers. With `group` it asks for one row a group; without `aggregate`, for the groups themselves. `having` compares what is aggregated, by name. `text` leaves only rows that hold all of its words. */
export type Query_Input = {source: string; where?: quarry__schema__algebra__Condition_Input[]; select?: string[]; aggregate?: Aggregate_Input[]; group?: Group[]; having?: quarry__schema__algebra__Condition_Input[]; order?: Order[]; limit?: number | null; offset?: number; ties?: boolean; text?: string; spans?: Span[]; then?: Query_Input | null};
/** What is asked of a source. Without `aggregate` and `group` it asks for rows: the fields of `select`, or their key and title. With `aggregate` alone it asks for one row of numbers. With `group` it asks for one row a group; without `aggregate`, for the groups themselves. `having` compares what is aggregated, by name. `text` leaves only rows that hold all of its words. */
export type Query_Output = {source: string; where?: Condition_Output[]; select?: string[]; aggregate?: Aggregate_Output[]; group?: Group[]; having?: Condition_Output[]; order?: Order[]; limit?: number | null; offset?: number; ties?: boolean; text?: string; spans?: Span[]; then?: Query_Output | null};
/** `POST /query`: the query, with values as the data spells them, and its exact result. `sentence` says both in words. `total` is how many rows of the source the query is about. `truncated`: there are rows, or groups, behind the last one here; `tied`: the next of them ties with it by the query's order. */
export type QueryResult = {query: Query_Output; sentence: string; columns: ResultColumn[]; rows: ((string | number | boolean | (string | number | boolean | null)[] | null)[])[]; total: number; truncated: boolean; tied?: boolean; filters: FilterChip[]; spans?: Span[] | null};
/** Exact numbers, counted over all records. `groups` are those with most records first, or the latest periods in the order of time, each by its first day; `truncated` says that there are more, and `other` how many records these hold. Groups add up: all `count` and `other` together are `total`, or more where groups are `overlapping`, since a record with several values counts in each. Values that differ only in case, accents and outer spaces are one group, and the group's value as a filter finds its records; an empty filter (`status=`) finds those of the null group. Periods without records are groups of 0, unless there are `gaps`: of more than 1,000 periods only those with records are given. What `of` asks for stands next to `total` and each `count`, by its name; null where no record has a value. `degraded` names, as `collection:NAME`, each collection that could not be read and is not counted. */
export type RecordCounts = {total: number; exact?: true; groups: AggregationGroup[]; truncated: boolean; other?: number; overlapping?: boolean; gaps?: boolean; degraded?: string[]} & {[name: string]: any};
/** Rows of another source that belong to a row: `count(NAME)`, `{"exists": NAME}`; `many` is false where it is one row. Rows of no source have only the `fields` named. */
export type RelatedRows = {name: string; label: string; references?: string | null; many: boolean; fields?: string[]};
/** A hard constraint, and how many more people there would be without it alone. */
export type Relaxation = {constraint: string; label: string; additional_people: number};
/** A message of the conversation. Those of systems, developers and tools are ignored. */
export type RequestMessage = {role: "system" | "developer" | "user" | "assistant" | "tool" | "function"; content?: string | TextPart[] | null};
/** One found record. `snippet` is HTML-escaped but for the `<mark>` around the matched words. `also` names the others that were found and say nearly the same, best first: they have no place of their own in the list. */
export type Result = {type: string; id: string; title: string; snippet: string; score: number; date?: string | null; meeting_id?: string | null; url?: string | null; matched: Matched; also?: SameRecord[]};
/** A column of the rows: `name` is the field or the aggregate as the query names it, `label` what people call it. `unit` is what its numbers are measured in or, of money, the currency. The numbers of a `share` are parts of 1. */
export type ResultColumn = {name: string; label: string; kind: string; unit?: string | null; share?: boolean};
/** A result, by its type and id. */
export type ResultKey = {type: string; id: string};
/** A found record that says nearly what another says. */
export type SameRecord = {type: string; id: string; title: string; date?: string | null};
/** A search to run again. `opened_at` is when its results were last viewed. */
export type SavedSearch = {id: string; domain: "companies" | "people" | "records" | "ontology" | "campaigns"; name: string; query: string; parameters: {[name: string]: any}; created_at: string; opened_at: string};
/** `PATCH /me/searches/{id}`. */
export type SavedSearchChange = {name: string};
/** `GET /me/searches`, latest first. */
export type SavedSearches = {searches: SavedSearch[]};
/** One list over all types, best first. `counts` holds how many were found of each type: all that hold a word of it, and of others those nearest in meaning. They are exact up to 10,000; of a phrase that must, or must not, be held, while at most so many hold its words. `more` says that of some types, which `capped` then names, there may be more than were counted. `degraded` names steps that did less than was asked for, and as `collection:NAME` each collection that could not be read. */
export type SearchResponse = {query: string; intent: "keyword" | "question"; results: Result[]; counts: {[name: string]: number}; more: boolean; capped?: string[] | null; degraded: string[]};
/** `POST /me/answers/{id}/share`. */
export type ShareRequest = {shared?: true};
/** Preferences: they raise the rank of people who meet them, and exclude nobody. */
export type Should = {skills_or_tools?: string[]; keywords?: string[]; intent_secondary?: ("work" | "education" | "project" | "business" | "research" | "teaching" | "community" | "certification" | "achievement" | "career_break" | "other")[]; company_norm?: string[]; team_norm?: string[]; location?: string[]};
/** How to sign in: authorization code with PKCE at the managed login under `domain`, asking for `scopes`. The access token is the API's bearer token. */
export type SignIn = {domain: string; client_id: string; scopes: string[]};
/** What a Query can ask of a source. `date` is the field that dates its rows; `left_out` says which rows of its table it does not have; `texts` are long texts to select. */
export type SourceDescription = {name: string; label: string; description: string; date?: string | null; left_out?: string | null; fields: SourceField[]; related: RelatedRows[]; texts?: string[]; measures?: SourceMeasure[] | null};
/** A field of a source. Money has a `currency` or, in `currency_of`, the field that names each row's: sums are given by it. A number may have a `unit`. `references` is the source whose row a field leads to: a path goes on there (`agent.email`). `many`: a row has several values. `values` are some that rows have. */
export type SourceField = {name: string; kind: string; label: string; unit?: string | null; currency?: string | null; currency_of?: string | null; references?: string | null; many?: boolean; values?: string[] | null; description?: string | null};
/** A number that a source declares by name: `aggregate` takes the name. `definition` says in words what it is. */
export type SourceMeasure = {name: string; label: string; definition: string; unit?: string | null; synonyms?: string[]};
/** The characters of a question, from `start` to before `end`, that say the part of the query at `pointer` (RFC 6901). */
export type Span = {pointer: string; start: number; end: number};
export type StreamOptions = {include_usage?: boolean | null};
/** A record whose title holds what was typed. */
export type Suggestion = {type: string; id: string; title: string; date?: string | null; url?: string | null};
/** Titles for what was typed so far, each once: first those that `GET /records/search` lists, in its order, then others. */
export type Suggestions = {query: string; suggestions: Suggestion[]; degraded?: string[]};
export type TextFormat = {type: "text"};
/** A part of a message; only text is accepted. */
export type TextPart = {type: "text"; text: string};
/** A question and its answer, in the form the page needs to show them again. */
export type Turn = {question: string; answer?: {[name: string]: any}};
/** How a question was understood. All of the query's `where` must hold. `assumed` conditions hold as long as some rows meet them, and `preferred` ones only raise the rank. `about` is what is searched for by words and meaning, `like` the name of what others should resemble. `chips` say the conditions in words, `spans` which characters of the question say which part, and `unread` the words that no part says; `sentence` is the query in words. A request that carries it is answered by it instead of the reading. What only explains is ignored there. */
export type Understood_Input = {sentence?: string; query: Query_Input; assumed?: quarry__schema__algebra__Condition_Input[]; preferred?: quarry__schema__algebra__Condition_Input[]; about?: string; like?: string; chips?: ConditionChip[]; unread?: string[]; spans?: Span[]};
/** How a question was understood. All of the query's `where` must hold. `assumed` conditions hold as long as some rows meet them, and `preferred` ones only raise the rank. `about` is what is searched for by words and meaning, `like` the name of what others should resemble. `chips` say the conditions in words, `spans` which characters of the question say which part, and `unread` the words that no part says; `sentence` is the query in words. A request that carries it is answered by it instead of the reading. What only explains is ignored there. */
export type Understood_Output = {sentence?: string; query: {[name: string]: any}; assumed?: Json[]; preferred?: Json[]; about?: string; like?: string; chips?: ConditionChip[]; unread?: string[]; spans?: Span[]};
/** `POST /people/{id}/unlock-contact`. */
export type UnlockRequest = {search_id: string};
/** `charged` is true for the first unlock only. */
export type UnlockResponse = {unlocked?: true; charged: boolean; balance: number; contact: Contact};
/** One entity, whole: its title and its props by the names that its owner gave them. `project` is left out where it is not the caller's. */
export type WholeEntity = {type: "task" | "plan" | "goal" | "milestone" | "document" | "output" | "requirement"; id: string; project_id: string; title: string; props: {[name: string]: any}; project?: Project | null; created_at?: string | null; updated_at?: string | null};
/** One record, whole: its title, its own fields by their names in the data (`texts` are those that are read as such), and as `meeting` what it is part of; whole numbers beyond 2^53 as text. `text` is what answers quote: `start` and `end` of a citation count its characters. */
export type WholeRecord = {type: string; id: string; title: string; date?: string | null; url?: string | null; fields: {[name: string]: any}; texts?: string[]; text?: string | null; meeting?: {[name: string]: any} | null};
/** Holds all these words. */
export type Words = {words: string};
/** How an answer came about. `turns` counts the model's turns; `degraded` are steps that a fallback served. */
export type quarry__answering__contract__Telemetry = {run_id: string; turns: number; tool_calls: number; degraded: string[]};
/** `POST /campaigns/chat`. `activeFilters` are those of the page; with `applyFiltersToQuery` they hold in every search. */
export type quarry__campaigns__contract__ChatRequest = {message: string; history?: HistoryMessage[]; activeFilters?: CampaignFilters | null; applyFiltersToQuery?: boolean; understood?: Understood_Input | null};
/** How the answer came about. `turn_count` counts the model's turns. */
export type quarry__campaigns__contract__Telemetry = {runId: string; turnCount: number; toolCallCount: number; endReason: "answered" | "nothing_found" | "budget_spent"; degradedSteps: string[]};
/** `POST /companies/chat`. The last message is the user's question. `understood`, where given, replaces how it is read: that of an answer, as it was or edited. */
export type quarry__companies__contract__ChatRequest = {messages: ChatMessage[]; understood?: Understood_Input | null; constraints?: quarry__companies__contract__Constraints | null; clientContext?: ClientContext | null; sessionId?: string | null};
/** What companies must, or should, be like in one field: any of `values`, or from `least` to `most`, both inclusive; with neither, any value at all. required: none is shown that does not meet it; assumed: so as long as some meet it; preferred: it only speaks for a company. Conditions of the same `group` are alternatives. */
export type quarry__companies__contract__Condition = {field: "name" | "former_name" | "domain" | "sector" | "category" | "business_model" | "niche" | "status" | "city" | "country" | "founded_year" | "closed_year" | "employees" | "funding_stage" | "funding" | "founder" | "acquirer"; values?: string[]; least?: number | null; most?: number | null; negated?: boolean; strength?: "required" | "assumed" | "preferred"; group?: number | null; label?: string | null};
/** The former form of how a question was understood: `understood` says it now. `topic` is found by words and by meaning. */
export type quarry__companies__contract__Constraints = {topic?: string; conditions?: quarry__companies__contract__Condition[]; excluded?: string[]; evidence?: Evidence[]};
/** How a query was read; `evidence` is of `query_original`. */
export type quarry__people__contract__Constraints = {query_original?: string; query_cleaned?: string; must?: Must; should?: Should; exclude?: Exclude; like?: string | null; search_phrases?: string[]; query_embedding_text?: string; confidence_score?: number; evidence?: Evidence[]};
export type quarry__schema__algebra__Condition_Input = Comparison_Input | AnyOf_Input | AllOf_Input | Not_Input | Exists_Input | Words;

export interface Routes {
  /** Whether this service can answer. */
  'GET /health': {query?: {deep?: boolean}; answer: Health};
  /** The same as `/health?deep=1`, at an address where API Gateway verifies tokens. */
  'GET /health/deep': {answer: Health};
  /** End a running stream of the caller's, in whatever process it runs; its last event is then an error. `id` is the first part of its events' ids. */
  'DELETE /runs/{id}': {path: {id: string}; answer: void};
  /** Say whether a run of the caller's helped; later feedback replaces earlier feedback. */
  'POST /runs/{id}/feedback': {path: {id: string}; body: Feedback; answer: void};
  /** The exact result of one Query: rows, numbers or groups of any source, under the caller's own rights. */
  'POST /query': {body: Query_Input; answer: QueryResult};
  /** How a question is read without a chat model: what its words may mean, the likeliest queries, and the unread words. */
  'POST /query/explain': {body: ExplanationRequest; answer: Explanation};
  /** A search for companies in plain words, as a stream of its steps, the answer's text and the answer. */
  'POST /companies/chat': {query?: {after_seq?: string}; body: quarry__companies__contract__ChatRequest; answer: never; streams: true};
  /** One whole company. */
  'GET /companies/{id}': {path: {id: string}; answer: Company};
  /** The people who fit best, at most five, with reasons. Costs one credit, and nothing where nobody is shown. */
  'POST /people/search': {query?: {only_kept?: boolean}; body: PeopleSearchRequest; answer: PeopleSearchResponse};
  /** One ranked list over all types of record. */
  'GET /records/search': {query: {from?: string | null; to?: string | null; type?: string[]; q: string; limit?: number; offset?: number; must?: boolean; ranking?: "scores" | "seed"; [facet: string]: string | number | boolean | string[] | null | undefined}; answer: SearchResponse};
  /** Titles for what was typed so far: the last word may be begun, and a word misspelt. In the order of the search. */
  'GET /records/suggest': {query: {from?: string | null; to?: string | null; type?: string[]; q: string; limit?: number; [facet: string]: string | number | boolean | string[] | null | undefined}; answer: Suggestions};
  /** The types of record, and what they can be filtered and counted by; of these and every other source the fields that a Query can name. */
  'GET /collections': {answer: Collections};
  /** How many records there are, exactly, in all and by the values of a facet. */
  'GET /records/facets': {query?: {from?: string | null; to?: string | null; type?: string[]; q?: string | null; by?: string | null; of?: string[]; [facet: string]: string | number | boolean | string[] | null | undefined}; answer: RecordCounts};
  /** A cited answer as server-sent events, for EventSource. */
  'GET /records/ask': {query: {from?: string | null; to?: string | null; type?: string[]; q: string; context?: string; fresh?: boolean; after_seq?: string; [facet: string]: string | number | boolean | string[] | null | undefined}; answer: never; streams: true};
  /** A cited answer as server-sent events. */
  'POST /records/ask': {query?: {after_seq?: string}; body: AskRequest; answer: never; streams: true};
  /** One whole record with what it is part of. */
  'GET /records/{type}/{id}': {path: {type: string; id: string}; answer: WholeRecord};
  /** The caller's own entities of every type, best first. */
  'POST /ontology/search': {body: OntologySearchRequest; answer: OntologySearchResponse};
  /** An answer about the caller's projects, and the entities that it speaks of. */
  'POST /ontology/ask': {query?: {after_seq?: string}; body: OntologyAskRequest; answer: OntologyAnswer; streams: true};
  /** One of the caller's entities, whole, with its project. */
  'GET /ontology/{type}/{id}': {path: {type: "task" | "plan" | "goal" | "milestone" | "document" | "output" | "requirement"; id: string}; answer: WholeEntity};
  /** An answer about campaigns, and the campaigns that it speaks of. */
  'POST /campaigns/chat': {query?: {after_seq?: string}; body: quarry__campaigns__contract__ChatRequest; answer: ChatResponse; streams: true};
  /** One whole campaign. */
  'GET /campaigns/{id}': {path: {id: string}; answer: Campaign};
  /** One message of the Model Context Protocol (stateless streamable HTTP). */
  'POST /mcp': {query?: {spending?: "allowed" | null; results?: "structured" | "text"}; body: {jsonrpc: "2.0"; id?: Json; method: string; params?: {[name: string]: any} | null}; answer: {jsonrpc: "2.0"; result?: {[name: string]: any}; error?: {[name: string]: any}}};
  /** The models: one for each domain that holds data. */
  'GET /v1/models': {answer: ModelList};
  /** An answer to the user's last message, in the shape of OpenAI's chat completions. */
  'POST /v1/chat/completions': {body: CompletionRequest; answer: Completion; streams: true};
  /** The contact details of a person whom a search of yours found. The first time costs one credit, later ones nothing. */
  'POST /people/{id}/unlock-contact': {path: {id: string}; body: UnlockRequest; answer: UnlockResponse};
  /** How many credits you have. */
  'GET /credits': {answer: CreditBalance};
  /** Everyone with a visible card, by name, a page at a time. A browser that opens the address gets the page. */
  'GET /people': {query?: {limit?: number; cursor?: string | null}; answer: DiscoverResponse};
  /** What everyone may see of a person: who they are and their visible cards. */
  'GET /people/{id}/profile': {path: {id: string}; answer: PublicProfile};
  /** A person whom a search of yours found, with contact details once you have unlocked them. */
  'GET /people/{id}': {path: {id: string}; query: {search_id: string}; answer: GatedProfile};
  /** Your conversations, the latest first, without their turns. */
  'GET /me/conversations': {answer: Conversations};
  /** Keep a conversation: up to 200, of 50 turns and 200,000 bytes each. */
  'POST /me/conversations': {body: NewConversation; answer: Conversation};
  /** A whole conversation of yours. No model is called, and nothing is charged. */
  'GET /me/conversations/{id}': {path: {id: string}; answer: Conversation};
  /** Rename a conversation of yours, or replace its turns. */
  'PATCH /me/conversations/{id}': {path: {id: string}; body: ConversationChange; answer: ConversationEntry};
  /** Delete a conversation of yours. */
  'DELETE /me/conversations/{id}': {path: {id: string}; answer: void};
  /** Your saved searches, the latest first. */
  'GET /me/searches': {answer: SavedSearches};
  /** Save a search, with what it shows now: up to 100. */
  'POST /me/searches': {body: NewSavedSearch; answer: SavedSearch};
  /** Rename a saved search of yours. */
  'PATCH /me/searches/{id}': {path: {id: string}; body: SavedSearchChange; answer: SavedSearch};
  /** Delete a saved search of yours. */
  'DELETE /me/searches/{id}': {path: {id: string}; answer: void};
  /** Say what a saved search of yours shows now, after it was run again by its own route; the answer says what of it is new. */
  'POST /me/searches/{id}/opened': {path: {id: string}; body: Opening; answer: Opened};
  /** A finished answer, as it was given. Public: whoever knows the id may read it, where it is shared. */
  'GET /answers/{id}': {path: {id: string}; answer: Json};
  /** Revoke an answer of the caller's. Its link stops working. */
  'DELETE /answers/{id}': {path: {id: string}; answer: void};
  /** Whether an answer is yours, so that you can revoke it, and whether its link opens it. */
  'GET /me/answers/{id}': {path: {id: string}; answer: OwnAnswer};
  /** Share an answer of yours: whoever has its link can open it from now on. */
  'POST /me/answers/{id}/share': {path: {id: string}; body: ShareRequest; answer: void};
  /** What the page needs to know: domains that hold data, sign-in, path prefix, examples. */
  'GET /config.json': {answer: PageConfig};
}
