export { alignable } from './alignable.js';
export { RULE_COSTS, type AlignmentRule } from './align/rules.js';
export { fromJsonSchema, type FromJsonSchemaOptions } from './from-json-schema.js';
export { interpretJsonSchema } from './interpret-json-schema.js';
export type { JsonSchema } from './json-schema.js';
