import { orderEndpoints } from './endpoints/orders.js';
import { recordEndpoints } from './endpoints/records.js';
import { runEndpoints } from './endpoints/runs.js';

/** Named, so that the declarations refer to the groups instead of repeating every schema. */
type Endpoints = typeof runEndpoints & typeof orderEndpoints & typeof recordEndpoints;

/**
 * All endpoints by name, in the order of the documentation. The server, the client and the OpenAPI document are built
 * from this table; `endpoints/` defines the requests and responses.
 */
export const ENDPOINTS: Endpoints = { ...runEndpoints, ...orderEndpoints, ...recordEndpoints };

/** A name in {@link ENDPOINTS}. */
export type EndpointName = keyof Endpoints;
