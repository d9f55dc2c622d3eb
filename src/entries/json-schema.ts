export {
  alignable,
  RULE_COSTS,
  type AlignmentRule,
  formatInstructions,
  type FormatInstructionsOptions,
  fromJsonSchema,
  type FromJsonSchemaOptions,
  type InferJsonSchema,
  type JsonSchema,
} from '../json/schema/index.js';
