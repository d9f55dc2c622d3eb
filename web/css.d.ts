/** Style sheets of pages: Vite loads them with the page that imports them. */
declare module '*.css';
