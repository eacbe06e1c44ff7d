/**
 * JSON schemas in words, and as lists of fields to expand.
 */

import {element} from '../dom.js';
import {number} from '../format.js';

/** @typedef {Record<string, any>} Schema */

const FORMATS = {date: 'date', 'date-time': 'time', uuid: 'UUID', uri: 'address'};
const SIMPLE = {string: 'text', integer: 'integer', number: 'number', boolean: 'true or false', null: 'null', object: 'object', array: 'list'};

/** Text with code between backticks. */
export function prose(text = '') {
  return text.split('`').map((piece, index) => (index % 2 ? element('code', {}, piece) : piece));
}

export class Types {
  /** @param {Record<string, Schema>} schemas by name */
  constructor(schemas) {
    this.schemas = schemas;
  }

  /** The target of a reference, or the schema itself. */
  resolved(schema) {
    return schema.$ref ? this.schemas[schema.$ref.split('/').at(-1)] : schema;
  }

  /** The type of a value in a few words: `list of text or null`. */
  words(schema) {
    const {anyOf, oneOf, type, items} = schema;
    // if two modules define a type of the same name, the module's name precedes it
    if (schema.$ref) return this.#isObject(schema) ? schema.$ref.split('/').at(-1).split('__').at(-1) : this.words(this.resolved(schema));
    if (anyOf ?? oneOf) return [...new Set((anyOf ?? oneOf).map((each) => this.words(each)))].join(' or ');
    if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' or ');
    if ('const' in schema) return JSON.stringify(schema.const);
    if (type === 'array' && items) return `list of ${this.words(items)}`;
    if (type === 'object' && typeof schema.additionalProperties === 'object') return `${this.words(schema.additionalProperties)} by name`;
    return FORMATS[schema.format] ?? SIMPLE[type] ?? 'any value';
  }

  /** Its bounds and default, in words. */
  limits(schema) {
    const [inner] = (schema.anyOf ?? [schema]).filter((each) => each.type !== 'null');
    const {minimum, maximum, maxLength, maxItems} = inner;
    return [
      minimum !== undefined && maximum !== undefined ? `${number(minimum)} to ${number(maximum)}`
        : minimum !== undefined ? `at least ${number(minimum)}` : maximum !== undefined && `at most ${number(maximum)}`,
      maxLength !== undefined && `at most ${number(maxLength)} characters`,
      maxItems !== undefined && `at most ${number(maxItems)}`,
      schema.default != null && schema.default !== '' && typeof schema.default !== 'object' && `default ${JSON.stringify(schema.default)}`,
    ].filter(Boolean);
  }

  /**
   * The fields of a schema. Nested fields are built when opened, since types may be recursive.
   * @param {Schema} schema
   */
  fields(schema) {
    const object = this.#object(schema);
    if (!object) return element('p', {class: 'fine'}, this.words(schema));
    const required = new Set(object.required);
    const named = Object.entries(object.properties).sort(([one], [other]) => required.has(other) - required.has(one));
    return element('dl', {class: 'fields'}, named.map(([name, each]) => this.field(name, each, required.has(name))));
  }

  /** One parameter. It is optional or required; that it may be null adds nothing. */
  parameter({name, in: place, schema, required, description}) {
    const choices = schema.anyOf?.filter((each) => each.type !== 'null');
    return this.field(name, {...schema, ...(choices && {anyOf: choices}), description: description ?? schema.description}, required, [place]);
  }

  /** One field: its name, type and meaning. */
  field(name, schema, isRequired, notes = []) {
    const inner = this.#object(schema);
    const said = [...notes, this.words(schema), isRequired && 'required', ...this.limits(schema)].filter(Boolean);
    const description = schema.description ?? (inner?.description !== undefined && schema.$ref ? inner.description : '');
    return [
      element('dt', {}, element('code', {}, name), ' ', element('span', {class: 'fine'}, said.join(' · '))),
      element('dd', {}, description && element('p', {}, prose(description)), inner && this.opened(inner)),
    ];
  }

  /** The fields of a schema, built when opened. */
  opened(schema) {
    const details = element('details', {}, element('summary', {}, 'Fields'));
    details.addEventListener('toggle', () => { if (details.childElementCount === 1) details.append(this.fields(schema)); });
    return details;
  }

  /** The object with fields within a schema: itself, the items of a list or mapping, or the only choice other than null. */
  #object(schema) {
    const {anyOf, oneOf, items, properties, additionalProperties} = this.resolved(schema);
    if (properties) return this.resolved(schema);
    if (items) return this.#object(items);
    if (typeof additionalProperties === 'object') return this.#object(additionalProperties);
    const choices = (anyOf ?? oneOf ?? []).filter((each) => each.type !== 'null');
    return choices.length === 1 ? this.#object(choices[0]) : null;
  }

  #isObject(schema) {
    return this.resolved(schema).properties !== undefined;
  }
}
