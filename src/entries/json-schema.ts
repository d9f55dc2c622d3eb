export {
  alignable,
  RULE_COSTS,
  type AlignmentRule,
  fromJsonSchema,
  type FromJsonSchemaOptions,
  interpretJsonSchema,
  type JsonSchema,
} from '../json-schema/index.js';
