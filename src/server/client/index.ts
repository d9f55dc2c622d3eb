export {
  createClient,
  type Client,
  type FilePreview,
  type EndpointInput,
  type PreviewInput,
  type RawInput,
} from './create-client.js';
export { CLIENT_ERROR_CODES, ClientError, type ClientErrorCode, type ClientErrorDetails } from './send-request.js';
export type { FollowInput, EventGap, ProtocolEvents } from './follow-run.js';
export type { ClientOptions } from './send-request.js';
