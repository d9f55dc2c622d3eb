export * from './json/index.js';
