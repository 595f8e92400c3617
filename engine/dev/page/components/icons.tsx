/** An icon of 24 by 24 units, drawn with lines. The element beside the icon has the name. */
const icon = (path: string) =>
  function Icon() {
    return (
      <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={path} />
      </svg>
    )
  }

export const HomeIcon = icon('M4 11l8-7 8 7M6 9.5V20h12V9.5M10 20v-6h4v6')
export const ListIcon = icon('M4 6l1.5 1.5L8 5M4 12l1.5 1.5L8 11M4 18l1.5 1.5L8 17M12 6h8M12 12h8M12 18h8')
export const DocumentIcon = icon('M6 4h9l3 3v13H6ZM9 10h6M9 13h6M9 16h4')
export const DeviceIcon = icon('M4 5h16v10H4ZM2 19h20M9 15l-1 4M15 15l1 4')
export const PeopleIcon = icon(
  'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM3 19c.5-3 2.800-4 6-4s5.500 1 6 4M15 5a3 3 0 0 1 0 6M17 15c2.300.400 3.600 1.600 4 4',
)
export const ShareIcon = icon('M12 15V4M8 8l4-4 4 4M5 12v8h14v-8')
export const LeaveIcon = icon(
  'M10 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM3 20c.6-3.6 3.4-5 7-5 1.600 0 3 .300 4.200.900M16 19h6',
)
export const SignOutIcon = icon('M10 4H5v16h5M9 12h11M16 8l4 4-4 4')
export const CloseIcon = icon('M6 6l12 12M18 6L6 18')
export const MenuIcon = icon('M4 7h16M4 12h16M4 17h16')
export const PersonIcon = icon('M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20c.6-3.6 3.4-5 7-5s6.4 1.4 7 5')
export const SettingsIcon = icon('M4 8h10M18 8h2M4 16h2M10 16h10M16 6v4M8 14v4')
export const EditIcon = icon('M4 20h4L19 9l-4-4L4 16ZM13 7l4 4')
export const DeleteIcon = icon('M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5')
export const MoreIcon = icon('M5 12h.01M12 12h.01M19 12h.01')
