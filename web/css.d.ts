/** Page style sheets. Vite loads each with the page that imports it. */
declare module '*.css';
