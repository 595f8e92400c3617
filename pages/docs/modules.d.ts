/** esbuild writes the imported styles to `main.css`. */
declare module '*.css'
