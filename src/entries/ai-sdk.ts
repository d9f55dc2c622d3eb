export {
  jsonMiddleware,
  type JsonMiddleware,
  repairText,
  type RepairOptions,
  repairToolCall,
  type SdkSchema,
} from '../adapters/ai-sdk.js';
