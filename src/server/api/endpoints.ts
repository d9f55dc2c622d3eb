import { parseEndpoints, runEndpoints, runFileEndpoints } from './endpoints/runs.js';
import { orderEndpoints, inboxEndpoints } from './endpoints/orders.js';
import { recordEndpoints, serviceEndpoints } from './endpoints/records.js';

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
