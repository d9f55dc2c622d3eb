export {
  jsonMiddleware,
  type JsonMiddleware,
  repairText,
  type RepairOptions,
  repairToolCall,
  type SdkSchema,
} from '../json/adapters/ai-sdk.js';
