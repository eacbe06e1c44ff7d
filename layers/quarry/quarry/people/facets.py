"""What people can be filtered, counted and grouped by: what they say of themselves, and their visible experience."""

from __future__ import annotations

from quarry.retrieval.facets import Facet, Related, SearchTable

PEOPLE = SearchTable(
    "people",
    nouns=(
        "person", "people", "someone", "somebody", "anyone", "candidate", "professional", "expert", "talent", "applicant",
        "profile", "individual", "employee",
    ),
    date="start",
    where="exists (select from experience_cards v where v.person_id = t.id and v.visible)",
    related=(
        Related("experience", "experience_cards", "r.person_id = t.id and r.visible", "person_id"),
        Related(
            "work", "experience_cards", "r.person_id = t.id and r.visible and r.intent_primary <> 'education'", "person_id"
        ),
        Related(
            "education", "experience_cards", "r.person_id = t.id and r.visible and r.intent_primary = 'education'", "person_id"
        ),
    ),
    facets=(
        Facet("name", "name", "name", "name", "names", wording="called {}"),
        Facet("headline", "text", "headline", "headline", "headlines", words=("tagline",), is_hard=False),
        Facet("bio", "text", "bio", "bio", "bios", words=("about", "biography"), is_hard=False),
        Facet(
            "home", "place", "concat_ws(', ', t.city, t.country)", "home", "homes",
            words=("residence", "based", "living", "lives"),
            wording="living in {}",
        ),
        Facet(
            "preferred_place", "place", "joined_names(t.work_preferred_locations)", "preferred location",
            "preferred locations", words=("open to", "willing to relocate"), wording="ready to work in {}",
            synonyms=(("work from home", "Remote"), ("working from home", "Remote"), ("wfh", "Remote")),
        ),
        Facet("open_to_work", "boolean", "open_to_work", "open to work", "open to work",
              words=("available", "looking for a job", "looking for work", "job seeking", "opentowork", "immediate joiner",
                     "available immediately", "open for work", "open to offers", "open to opportunities", "looking for a new job",
                     "looking for a role", "looking for a position", "looking for employment", "seeking work", "seeking a job",
                     "job hunting", "job seeker", "on the job market"), wording="open to work"),
        Facet("open_to_contact", "boolean", "open_to_contact", "open to contact", "open to contact",
              words=("contactable", "reachable"), wording="open to contact"),
        Facet(
            "salary", "money", "work_preferred_salary_min", "expected salary", "expected salaries",
            words=("salary", "pay", "compensation", "ctc"), wording="expecting {}", currency="INR",
        ),
        Facet(
            "company", "name", "company_name", "company", "companies", related="work",
            words=("employer", "firm", "organisation", "organization"),
            wording="at {}",
        ),
        Facet("team", "name", "team", "team", "teams", related="work",
              words=("department", "group", "unit"), wording="in the team {}"),
        Facet(
            "title", "title", "title", "role", "roles", related="work",
            words=("title", "job", "position", "job title", "occupation", "profession"),
        ),
        Facet(
            "seniority", "value", "seniority_level", "level", "levels", related="work",
            words=("rank", "grade"),
            synonyms=(("fresher", "entry"), ("freshers", "entry"), ("junior", "entry"), ("exec", "executive"),
                      ("cofounder", "founder")),
        ),
        Facet(
            "employment", "value", "employment_type", "employment type", "employment types", related="work",
            words=("employment", "contract type"),
        ),
        Facet("is_current", "boolean", "is_current", "current", "current", related="work",
              words=("now", "currently", "today", "at present", "active", "employed", "in work"), wording="now"),
        Facet(
            "workplace", "place", "concat_ws(', ', r.city, r.country, r.location)", "place of work", "places of work",
            words=("city", "country", "location", "place"), related="work", wording="in {}",
        ),
        Facet("start", "date", "start_date", "start", "starts", related="work",
              words=("started", "joined", "since", "begun", "began", "appointed", "selected", "chosen", "became"),
              wording="started {}"),
        Facet("end", "date", "end_date", "end", "ends", related="work",
              words=("ended", "left", "finished"), wording="ended {}"),
        Facet(
            "school", "name", "company_name", "school", "schools", related="education",
            words=("university", "college", "alma mater", "institute", "alumni", "alumnus", "alumna", "graduates", "students"),
            wording="studied at {}",
        ),
        Facet(
            "degree", "title", "title", "degree", "degrees", related="education",
            words=("qualification", "course", "studies"), wording="with {}", is_hard=False,
        ),
        Facet("graduation", "date", "end_date", "graduation", "graduations", related="education",
              words=("graduated", "graduating", "class of"), wording="graduated {}"),
        Facet(
            "domain", "value", "domain", "domain", "domains", related="experience",
            words=("field", "industry", "sector", "area", "discipline"), wording="in {}", is_hard=False,
            synonyms=(("ml", "machine learning"), ("ai", "artificial intelligence"), ("hr", "human resources")),
        ),
        Facet(
            "sub_domain", "value", "sub_domain", "sub-domain", "sub-domains", related="experience",
            words=("speciality", "specialty", "specialisation", "specialization"), wording="in {}", is_hard=False,
        ),
        Facet("intent", "value", "intent_primary", "kind of experience", "kinds of experience", related="experience",
              words=("intent", "kind", "type"), is_hard=False,
              synonyms=(("taught", "teaching"), ("teaches", "teaching"), ("teach", "teaching"), ("tutor", "teaching"),
                        ("tutors", "teaching"), ("lecturer", "teaching"), ("volunteered", "community"),
                        ("sabbatical", "career_break"), ("hackathon", "project"), ("award", "achievement"))),
        Facet(
            "skill", "array", "skills", "skill", "skills", related="experience",
            words=("technology", "tool", "expertise", "stack"), wording="with {}", is_hard=False,
            synonyms=(("k8s", "Kubernetes"), ("golang", "Go"), ("js", "JavaScript"), ("postgres", "PostgreSQL"),
                      ("ml", "machine learning"), ("ai", "artificial intelligence"),
                      ("nlp", "natural language processing")),
        ),
    ),
)  # fmt: skip

SEARCHED = (PEOPLE,)
