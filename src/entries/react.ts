export { useJsonStream, type JsonStreamState } from '../json/adapters/react.js';
