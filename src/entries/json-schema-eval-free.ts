export {
  alignable,
  RULE_COSTS,
  type AlignmentRule,
  formatInstructions,
  type FormatInstructionsOptions,
  type InferJsonSchema,
  interpretJsonSchema,
  type JsonSchema,
} from '../json-schema/index.js';
