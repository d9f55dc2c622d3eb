export {
  alignable,
  RULE_COSTS,
  type AlignmentRule,
  fromJsonSchema,
  type FromJsonSchemaOptions,
  type InferJsonSchema,
  interpretJsonSchema,
  type JsonSchema,
} from '../json-schema/index.js';
