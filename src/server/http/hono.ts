/** The part of hono that Sluice uses. `npm run build` bundles it into this file: users need not install it. */
export { getRequestListener } from '@hono/node-server';
export { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
export { Hono } from 'hono';
export { cors } from 'hono/cors';
