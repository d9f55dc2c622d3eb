import { parseEndpoints } from './endpoints/parse.js';
import { runEndpoints } from './endpoints/runs.js';
import { runFileEndpoints } from './endpoints/run-files.js';
import { orderEndpoints } from './endpoints/orders.js';
import { inboxEndpoints } from './endpoints/inbox.js';
import { recordEndpoints } from './endpoints/records.js';
import { serviceEndpoints } from './endpoints/service.js';

/** Named, so that the declarations refer to the groups instead of repeating every schema. */
type Endpoints = typeof parseEndpoints &
  typeof runEndpoints &
  typeof runFileEndpoints &
  typeof orderEndpoints &
  typeof inboxEndpoints &
  typeof recordEndpoints &
  typeof serviceEndpoints;

/**
 * All endpoints by name, in the order of the documentation. The server, the client and the OpenAPI document are built
 * from this table; `endpoints/` defines the requests and responses.
 */
export const ENDPOINTS: Endpoints = {
  ...parseEndpoints,
  ...runEndpoints,
  ...runFileEndpoints,
  ...orderEndpoints,
  ...inboxEndpoints,
  ...recordEndpoints,
  ...serviceEndpoints,
};

/** A name in {@link ENDPOINTS}. */
export type EndpointName = keyof Endpoints;
