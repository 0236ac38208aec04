/** The default theme, with room for tables. */
import theme from 'vitepress/theme';
import './tables.css';

export default theme;
