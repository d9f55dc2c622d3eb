/** The part of the ACP SDK that Sluice uses. `npm run build` bundles it into this file: users need not install it. */
export { PROTOCOL_VERSION, RequestError, agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';
