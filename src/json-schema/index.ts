export { fromJsonSchema } from './from-json-schema.js';
export type { FromJsonSchemaOptions } from './from-json-schema.js';
export { interpretJsonSchema } from './interpret-json-schema.js';
export type { JsonSchema } from './json-schema.js';
