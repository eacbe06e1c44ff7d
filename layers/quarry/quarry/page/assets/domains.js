/** What the page calls each domain, in the order of its head. */
export const DOMAINS = {records: 'Records', companies: 'Companies', people: 'People', ontology: 'Projects', campaigns: 'Campaigns'};
