export { openTracing, type Tracing } from './open-tracing.js';
