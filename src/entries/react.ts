export { useJsonStream, type JsonStreamState } from '../adapters/react.js';
