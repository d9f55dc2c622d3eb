export { alignable } from './alignable.js';
export { RULE_COSTS, type AlignmentRule } from './align/rules.js';
export { fromJsonSchema, type FromJsonSchemaOptions } from './from-json-schema.js';
export { interpretJsonSchema } from './interpret-json-schema.js';
export { type JsonSchema, isJsonObject, ownValue } from './json-schema.js';
export { FORMATS } from './formats.js';
export { exportJsonSchema } from './export-json-schema.js';
export { compilePatternProgram, type PatternInstruction } from './patterns/pattern-program.js';
export { toRegExp } from './patterns/pattern.js';
